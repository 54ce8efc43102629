import type { Measurement } from "./load.ts";
import { type Cell, cellName } from "./scenarios.ts";
import { type Spread, spread } from "./statistics.ts";

/** What the rounds of one system under one load say together. CPU in microseconds, latencies in milliseconds. */
export interface Result {
  readonly name: string;
  readonly cell: Cell;
  readonly system: string;
  /** CPU time a request, or a token of a stream. */
  readonly cpu: Spread;
  /** The same as a multiple of the pass-through in the same round. */
  readonly ratio: Spread;
  readonly requestsPerSecond: Spread;
  readonly tokensPerSecond: Spread;
  /** Time to first token, median and 99th percentile of each round. */
  readonly firstToken: { readonly p50: Spread; readonly p99: Spread };
  readonly whole: { readonly p50: Spread; readonly p99: Spread };
  /** Resident bytes. */
  readonly resident: Spread;
}

/** CPU time of the unit that a load is about: a token of a stream, else a request. Microseconds. */
export function cpuOfUnit(cell: Cell, measured: Measurement): number {
  return measured.cpu / (cell.stream ? measured.words : measured.requests);
}

/** Puts the rounds of a system together; the pass-through's rounds ran beside them, in the same order. */
export function summarise(
  cell: Cell,
  system: string,
  rounds: readonly Measurement[],
  raw: readonly Measurement[],
): Result {
  const of = (value: (round: Measurement) => number) => spread(rounds.map(value));
  return {
    name: cellName(cell),
    cell,
    system,
    cpu: of((round) => cpuOfUnit(cell, round)),
    ratio: spread(
      rounds.map((round, at) => {
        const beside = raw[at];
        return beside ? cpuOfUnit(cell, round) / cpuOfUnit(cell, beside) : Number.NaN;
      }),
    ),
    requestsPerSecond: of((round) => (round.requests / round.duration) * 1000),
    tokensPerSecond: of((round) => (round.words / round.duration) * 1000),
    firstToken: { p50: of((round) => round.firstWord.p50), p99: of((round) => round.firstWord.p99) },
    whole: { p50: of((round) => round.whole.p50), p99: of((round) => round.whole.p99) },
    resident: of((round) => round.resident),
  };
}
