/** The span over which requests and tokens count. */
export const windowMs = 60_000;

/** The part that a run takes of a limit that counts running requests: one place, or the bound of its tokens. */
export interface QuotaDemand {
  /** Which counter, the same on every core. */
  readonly name: string;
  readonly limit: number;
  /** At least 1. One above the whole limit is taken when nothing else counts. */
  readonly amount: number;
}

/** Where a quota stands. */
export interface QuotaState {
  /** The limit that held, lower than the one asked for while cores cannot count together. */
  readonly limit: number;
  /** Taken by runs under way, and counted at the end of those of the last minute. */
  readonly used: number;
  /** Milliseconds until the demand may fit, by the last minute's count; a second where running requests are in its way. 0: it fits. */
  readonly waitMs: number;
  /** Until nothing counts any more, if what is under way ended now. */
  readonly resetAfterMs: number;
}

/** The count of one second. */
export interface CountedSecond {
  /** Its number since the clock's start. */
  readonly second: number;
  readonly amount: number;
  /** When something was last counted in it, in milliseconds of the same clock. */
  readonly lastAt: number;
}

/** A run that waits for another one's end asks again after so long, in milliseconds. */
const retryMs = 1000;

/** When the count of a second lapses, in milliseconds of the same clock: never later than a minute from now. */
export function computeLapse({ lastAt }: CountedSecond): number {
  return lastAt + windowMs;
}

/** Where a quota stands before a demand is granted. `counted` is in the order of its seconds. */
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
