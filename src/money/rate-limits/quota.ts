/** The span over which requests and tokens count. */
export const windowMs = 60_000;

/** The part of a limit that a run takes while it runs: one place, or the bound of its tokens. */
export interface QuotaDemand {
  /** The name of the counter, the same on every core. */
  readonly name: string;
  readonly limit: number;
  /** At least 1. An amount above the whole limit is granted when nothing else counts. */
  readonly amount: number;
}

/** The state of a quota. */
export interface QuotaState {
  /** The limit that was applied: lower than the demanded one while cores cannot count together. */
  readonly limit: number;
  /** Taken by running requests, plus what ended runs of the last minute have counted. */
  readonly used: number;
  /**
   * Milliseconds until the demand may fit, by the counts of the last minute; one second when running requests are in
   * its way. 0: it fits.
   */
  readonly waitMs: number;
  /** Milliseconds until nothing counts any more, if all running requests ended now. */
  readonly resetAfterMs: number;
}

/** The count of one second. */
export interface CountedSecond {
  /** The second's number since the clock's start. */
  readonly second: number;
  readonly amount: number;
  /** The time of its last count, in milliseconds of the same clock. */
  readonly lastAt: number;
}

/** How long a run waits before it asks again when it waits for another run's end, in milliseconds. */
const retryMs = 1000;

/** When the count of a second lapses, in milliseconds of the same clock: never later than a minute from now. */
export function computeLapse({ lastAt }: CountedSecond): number {
  return lastAt + windowMs;
}

/** The state of a quota before a demand is granted. `counted` is in the order of its seconds. */
export function judge(
  { limit, amount }: QuotaDemand,
  held: number,
  counted: readonly CountedSecond[],
  now: number,
): QuotaState {
  const all = counted.reduce((sum, second) => sum + second.amount, 0);
  const last = counted.at(-1);
  const resetAfterMs = held > 0 ? windowMs : last === undefined ? 0 : computeLapse(last) - now;
  const fits = (used: number) => used === 0 || used + amount <= limit;
  let used = held + all;
  let waitMs = fits(used) ? 0 : retryMs;
  for (const second of counted) {
    if (fits(used)) {
      break;
    }
    used -= second.amount;
    waitMs = Math.max(retryMs, computeLapse(second) - now);
  }
  return { limit, used: held + all, waitMs: fits(used) ? waitMs : retryMs, resetAfterMs };
}
