import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Receipt, ReceiptStatus } from "#gen/tollgate/metering/v1/usage_pb.js";
import { formatPercent } from "#lib/money/basis-points.ts";
import { formatRate, formatUsd } from "#lib/money/money.ts";
import { dayName } from "#lib/time/days.ts";
import type { DayProof } from "./day-proofs.ts";
import type { LotTerms, TermedMovement } from "./lot-terms.ts";

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

/** The kinds of credits in a statement: of a payment, of a gift, or of the credit line. */
const lotKinds = { paid: "topup", free: "grant", grant: "grant", credit: "line" } as const;

/** What a credit locked in, as fields of a line or of one of its lots. */
const termsFields = ({ priceVersion, own, rates }: LotTerms) => ({
  price_version: String(priceVersion),
  ...(own && { own_prices: own.number, discount_percent: formatPercent(own.discount) }),
  rates: rates.map(({ model, input, output }) => ({
    ...{ model, input_price: formatRate(input), output_price: formatRate(output) },
  })),
});

/** A lot of the opening or the closing balance. Without terms, what no credit could pay. */
export const lotEntry = (lotId: string, balance: bigint, terms: LotTerms | undefined): LotEntry => ({
  lot: lotId,
  ...(terms && { kind: lotKinds[terms.kind], at: terms.at.toISOString() }),
  balance: formatUsd(balance),
  ...(terms && termsFields(terms)),
});

/** A lot of the opening or the closing balance, ready to be written. */
export type LotEntry = Readonly<Record<string, unknown>>;

/** Money that came in, went back, lapsed or paid what was owed, as a line, and the balance after it. */
export function movementLine(
  { kind, at, amount, lotId, reference, changes, terms }: TermedMovement,
  balance: bigint,
): string {
  const [from, to] = changes;
  return JSON.stringify({
    kind,
    at: at.toISOString(),
    amount: formatUsd(amount),
    balance: formatUsd(balance),
    lot: kind === "repayment" ? from?.lotId : lotId,
    ...(kind === "repayment" && { pays: to?.lotId }),
    ...(reference !== "" && { reference }),
    ...(kind === "refund" && { lots: changes.map((one) => ({ lot: one.lotId, amount: formatUsd(-one.amount) })) }),
    ...(terms && termsFields(terms)),
  });
}

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
