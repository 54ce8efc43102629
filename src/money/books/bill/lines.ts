import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Receipt, ReceiptStatus } from "#gen/tollgate/metering/v1/usage_pb.js";
import { formatRate, formatUsd } from "#lib/money/money.ts";
import { dayMs } from "../../store/kept-from.ts";
import type { DayProof } from "./day-proofs.ts";
import type { Movement } from "./movements.ts";

/** A UTC day as YYYY-MM-DD. */
export const dayName = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10);

/**
 * A charge as a line of a statement: everything of its receipt that is sealed, and the balance after it. What no credit
 * could pay has no lot.
 */
export function chargeLine(receipt: Receipt, balance: bigint): string {
  return JSON.stringify({
    kind: "charge",
    at: receipt.settledAt && timestampDate(receipt.settledAt).toISOString(),
    request_id: receipt.requestId,
    run_id: receipt.runId,
    key_id: receipt.keyId,
    model: receipt.model,
    status: ReceiptStatus[receipt.status].toLowerCase(),
    prompt_tokens: Number(receipt.inputTokens),
    completion_tokens: Number(receipt.outputTokens),
    cost: formatUsd(receipt.costPicoUsd),
    shortfall: formatUsd(receipt.shortfallPicoUsd),
    balance: formatUsd(balance),
    lots: receipt.lines.map((line) => ({
      lot: line.lotId,
      input_tokens: Number(line.inputTokens),
      output_tokens: Number(line.outputTokens),
      input_price: formatRate(line.inputPicoUsdPerToken),
      output_price: formatRate(line.outputPicoUsdPerToken),
      cost: formatUsd(line.costPicoUsd),
    })),
  });
}

/** Money that came in, went back or lapsed, as a line, and the balance after it. */
export const movementLine = ({ kind, at, amount, lotId, reference }: Movement, balance: bigint): string =>
  JSON.stringify({
    kind,
    at: at.toISOString(),
    amount: formatUsd(amount),
    balance: formatUsd(balance),
    lot: lotId,
    ...(reference !== "" && { reference }),
  });

/** The seal of a day as a line. Without charges of the account, the seal alone. */
export function sealLine(day: number, { account, number, before, root, sums, chain }: DayProof): string {
  const own = account && {
    receipts: account.seal.receipts,
    cost: formatUsd(BigInt(account.seal.costHigh) * 1_000_000n + BigInt(account.seal.costLow)),
    digest: account.seal.digest,
    path: account.path,
  };
  return JSON.stringify({ kind: "seal", day: dayName(day), number, before, root, sums, chain, ...own });
}
