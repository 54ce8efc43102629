import type { Measurement } from "../load/load.ts";
import { type Cell, cellName } from "../measure/cell.ts";
import { type Spread, spread } from "./statistics.ts";

/** One turn of a system under a load. */
export interface Turn {
  readonly load: Measurement;
  /** The light load alone, and beside the other one. */
  readonly quiet?: Measurement;
  readonly beside?: Measurement;
}

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
  /** The part of the machine's CPU that others took meanwhile. */
  readonly disturbance: Spread;
  /** The part of the machine's CPU that was left. */
  readonly idle: Spread;
  /** Resident bytes. */
  readonly resident: Spread;
  /** Median time of a request of the light load, alone and beside the other one. */
  readonly newcomer?: { readonly quiet: Spread; readonly beside: Spread };
}

/** CPU time of the unit that a load is about: a token of a stream, else a request. Microseconds. */
export function cpuOfUnit(cell: Cell, measured: Measurement): number {
  return measured.cpu / (cell.stream ? measured.words : measured.requests);
}

/** Puts the turns of a system together; the pass-through's turns ran beside them, in the same order. */
export function summarise(cell: Cell, system: string, turns: readonly Turn[], raw: readonly Turn[]): Result {
  const of = (value: (load: Measurement) => number) => spread(turns.map(({ load }) => value(load)));
  return {
    name: cellName(cell),
    cell,
    system,
    cpu: of((load) => cpuOfUnit(cell, load)),
    ratio: spread(
      turns.map(({ load }, at) => {
        const beside = raw[at]?.load;
        return beside ? cpuOfUnit(cell, load) / cpuOfUnit(cell, beside) : Number.NaN;
      }),
    ),
    requestsPerSecond: of((load) => (load.requests / load.duration) * 1000),
    tokensPerSecond: of((load) => (load.words / load.duration) * 1000),
    firstToken: { p50: of((load) => load.firstWord.p50), p99: of((load) => load.firstWord.p99) },
    whole: { p50: of((load) => load.whole.p50), p99: of((load) => load.whole.p99) },
    disturbance: of((load) => load.disturbance),
    idle: of((load) => load.idle),
    resident: of((load) => load.resident),
    ...(cell.beside && {
      newcomer: {
        quiet: spread(turns.map(({ quiet }) => quiet?.whole.p50 ?? Number.NaN)),
        beside: spread(turns.map(({ beside }) => beside?.whole.p50 ?? Number.NaN)),
      },
    }),
  };
}
