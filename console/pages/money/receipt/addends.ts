import type { ReceiptLine } from "#gen/tollgate/metering/v1/usage_pb.js";

/** What one lot paid, or a part of it. */
export interface Addend {
  readonly line: ReceiptLine;
  readonly kind: "line" | "input" | "output" | "shared";
  readonly tokens?: bigint;
  /** Pico-USD a token. */
  readonly rate?: bigint;
  readonly cost: bigint;
}

/**
 * A receipt's line, followed by addends that add up to it exactly: what tokens times rates leave over belongs to a
 * shared token.
 */
export function toAddends(line: ReceiptLine): readonly Addend[] {
  const input = line.inputTokens * line.inputPicoUsdPerToken;
  const output = line.outputTokens * line.outputPicoUsdPerToken;
  const shared = line.costPicoUsd - input - output;
  const addends: readonly Addend[] = [
    { line, kind: "line", cost: line.costPicoUsd },
    { line, kind: "input", tokens: line.inputTokens, rate: line.inputPicoUsdPerToken, cost: input },
    { line, kind: "output", tokens: line.outputTokens, rate: line.outputPicoUsdPerToken, cost: output },
    { line, kind: "shared", cost: shared },
  ];
  return addends.filter(({ kind, tokens, cost }) => kind === "line" || (tokens ?? cost) !== 0n);
}
