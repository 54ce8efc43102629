import type { Moment } from "./feed.ts";

/** A rate is told over this long: shorter ones jump with every answer that ends. */
const windowMs = 10_000;
const hourMs = 3_600_000;

/** What happens in a second, around one moment. */
export interface Rates {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Pico-USD an hour. */
  readonly earnedAnHour: bigint;
}

/** The rates at each moment but the first ones. Oldest first. */
export function toRates(moments: readonly Moment[]): readonly (Rates | undefined)[] {
  return moments.map((moment, index) => {
    const earlier = moments.slice(0, index).find(({ at }) => moment.at - at <= windowMs);
    return earlier === undefined ? undefined : rateBetween(earlier, moment);
  });
}

/** Sums begin anew at midnight, so a rate is never below zero. */
function rateBetween(earlier: Moment, later: Moment): Rates {
  const ms = later.at - earlier.at;
  const aSecond = (pick: (moment: Moment) => number) => Math.max(0, ((pick(later) - pick(earlier)) * 1000) / ms);
  const earned = later.earnedPicoUsd - earlier.earnedPicoUsd;
  return {
    requests: aSecond(({ requests }) => requests),
    inputTokens: aSecond(({ inputTokens }) => inputTokens),
    outputTokens: aSecond(({ outputTokens }) => outputTokens),
    earnedAnHour: earned < 0n ? 0n : (earned * BigInt(hourMs)) / BigInt(ms),
  };
}
