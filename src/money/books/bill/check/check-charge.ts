import { formatUsd } from "#lib/money/money.ts";
import { receiptLines } from "../../receipts/receipt-lines.ts";
import { type DigestedReceipt, digestReceipt } from "../../seals/seal-tree.ts";
import type { PaidPart } from "./check-lots.ts";
import { Misfit, mustMake } from "./misfit.ts";
import type { Line } from "./read-line.ts";

/** What of a charge the rest of a statement has to fit. */
export interface CheckedCharge {
  readonly cost: bigint;
  readonly parts: readonly PaidPart[];
  /** What is sealed of it. */
  readonly digest: Buffer;
}

/** A part of a charge: what one credit paid, or, without a lot, what nobody could pay. */
interface Part extends PaidPart {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Makes the cost of a charge anew from its tokens and rates. Throws a Misfit where it is another. */
export function checkCharge(line: Line, accountId: string): CheckedCharge {
  const [inputTokens, outputTokens] = [line.count("prompt_tokens"), line.count("completion_tokens")];
  const [cost, shortfall] = [line.usd("cost"), line.usd("shortfall")];
  const parts = line.list("lots").map(readPart);
  const paid = parts.filter(({ lotId }) => lotId !== "");
  const owed = parts.filter(({ lotId }) => lotId === "");
  checkParts(parts, { inputTokens, outputTokens });
  mustMake("shortfall", sum(owed, "cost"), shortfall);
  mustMake("cost", sum(parts, "cost"), cost);
  if (cost > 0n) {
    mustMake("prompt_tokens", sum(parts, "inputTokens"), BigInt(inputTokens), String);
    mustMake("completion_tokens", sum(parts, "outputTokens"), BigInt(outputTokens), String);
  }
  const sealed: DigestedReceipt = {
    requestId: line.text("request_id"),
    runId: line.text("run_id"),
    accountId,
    keyId: line.text("key_id"),
    model: line.text("model"),
    status: line.text("status"),
    settledAt: line.time("at"),
    inputTokens: String(inputTokens),
    outputTokens: String(outputTokens),
    cost: String(cost),
    shortfall: String(shortfall),
    lines: paid.map((part) => ({
      lotId: part.lotId,
      inputTokens: BigInt(part.inputTokens),
      outputTokens: BigInt(part.outputTokens),
      inputRate: String(part.inputRate),
      outputRate: String(part.outputRate),
      cost: BigInt(part.cost),
    })),
  };
  return { cost, parts, digest: digestReceipt(sealed) };
}

/** Tokens times rates, but for a token that parts share: what one part gave for it, the next ones give less. */
function checkParts(parts: readonly Part[], tokens: { inputTokens: number; outputTokens: number }): void {
  const lines = receiptLines(parts, tokens);
  for (const [at, { lotId, sharedTokenPicoUsd: shared, ...line }] of lines.entries()) {
    const { inputPicoUsdPerToken: input, outputPicoUsdPerToken: output } = line;
    const isShared = at < lines.length - 1 && shared > 0n && (shared < input || shared < output);
    if (shared !== 0n && !isShared) {
      const own = formatUsd(line.inputTokens * input + line.outputTokens * output);
      const name = lotId === "" ? "what is owed" : `the part of credit ${lotId}`;
      throw new Misfit(`${name} costs ${formatUsd(line.costPicoUsd)}, and its tokens cost ${own}`);
    }
  }
}

function readPart(part: Line): Part {
  return {
    lotId: part.text("lot"),
    inputTokens: part.count("input_tokens"),
    outputTokens: part.count("output_tokens"),
    inputRate: exact(part.rate("input_price")),
    outputRate: exact(part.rate("output_price")),
    cost: exact(part.usd("cost")),
  };
}

/** The ledger charges no amount that a number does not hold exactly; a file may claim one. */
function exact(amount: bigint): number {
  if (amount > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new Misfit("an amount is larger than a charge can have");
  }
  return Number(amount);
}

const sum = (parts: readonly Part[], name: "inputTokens" | "outputTokens" | "cost"): bigint =>
  parts.reduce((all, part) => all + BigInt(part[name]), 0n);
