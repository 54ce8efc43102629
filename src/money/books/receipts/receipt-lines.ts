import type { ReceiptLine } from "#gen/tollgate/metering/v1/usage_pb.js";
import type { Usage, UsageLine } from "#src/storage/entities/metering/usage.ts";

/** The part of a charge that one slice paid. An empty lot: no slice paid it. */
export type PaidLine = Omit<UsageLine, "requestId" | "runId" | "seq" | "sliceId">;

/** The tokens of a whole request. */
interface Tokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/**
 * The lines of a receipt, one for each lot: slices are internal, so the slices of a lot are merged. Each line tells
 * what it paid of a token that it shares with the next lines, so that the receipt can be worked out by hand.
 */
export function receiptLines(lines: readonly PaidLine[], tokens: Tokens): ReceiptLine[] {
  const merged = byLot(lines);
  let inputTokens = BigInt(tokens.inputTokens);
  let carried: { paid: bigint; lowest: bigint } | undefined;
  for (const line of merged) {
    const ofInput = inputTokens > 0;
    const counted = line.inputTokens + line.outputTokens > 0;
    const own = line.inputTokens * line.inputPicoUsdPerToken + line.outputTokens * line.outputPicoUsdPerToken;
    const firstRate = ofInput ? line.inputPicoUsdPerToken : line.outputPicoUsdPerToken;
    // Earlier lines may have paid part of the first token.
    const due = carried && findDue(carried, firstRate);
    const saved = counted && due !== undefined ? firstRate - due : 0n;
    line.sharedTokenPicoUsd = line.costPicoUsd - (own - saved);
    inputTokens -= line.inputTokens;
    const lastRate = inputTokens > 0 ? line.inputPicoUsdPerToken : line.outputPicoUsdPerToken;
    if (line.sharedTokenPicoUsd === 0n) {
      carried = undefined;
    } else if (carried === undefined || counted) {
      carried = { paid: line.sharedTokenPicoUsd, lowest: lastRate };
    } else {
      carried = { paid: carried.paid + line.sharedTokenPicoUsd, lowest: smaller(carried.lowest, firstRate) };
    }
  }
  return merged;
}

/** The part of a token's price that a lot with this rate pays after other lots have paid a part. */
function findDue({ paid, lowest }: { paid: bigint; lowest: bigint }, rate: bigint): bigint {
  const due = smaller(lowest, rate) - paid;
  return due > 0n ? due : 0n;
}

/**
 * The tokens that no lot could pay, at the rates of the admission. Empty for a receipt made before these rates were
 * stored.
 */
export function shortfallLine(usage: Usage, lines: readonly PaidLine[]): PaidLine[] {
  const { shortfall, maxInputRate, maxOutputRate } = usage;
  if (shortfall === 0 || maxInputRate == null || maxOutputRate == null) {
    return [];
  }
  const unpaid = (column: "inputTokens" | "outputTokens") =>
    lines.reduce((left, line) => left - line[column], usage[column]);
  return [
    {
      lotId: "",
      inputTokens: unpaid("inputTokens"),
      outputTokens: unpaid("outputTokens"),
      inputRate: maxInputRate,
      outputRate: maxOutputRate,
      cost: shortfall,
    },
  ];
}

function byLot(lines: readonly PaidLine[]): ReceiptLine[] {
  const lots = new Map<string, ReceiptLine>();
  for (const { lotId, inputTokens, outputTokens, inputRate, outputRate, cost } of lines) {
    const line = lots.get(lotId);
    if (line === undefined) {
      lots.set(lotId, {
        $typeName: "tollgate.metering.v1.ReceiptLine",
        lotId,
        inputTokens: BigInt(inputTokens),
        outputTokens: BigInt(outputTokens),
        inputPicoUsdPerToken: BigInt(inputRate),
        outputPicoUsdPerToken: BigInt(outputRate),
        costPicoUsd: BigInt(cost),
        sharedTokenPicoUsd: 0n,
      });
    } else {
      line.inputTokens += BigInt(inputTokens);
      line.outputTokens += BigInt(outputTokens);
      line.costPicoUsd += BigInt(cost);
    }
  }
  return [...lots.values()];
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
