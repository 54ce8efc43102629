import { toTail } from "./tail.ts";

/** Times in milliseconds, since the measurement began. */
export interface Answered {
  readonly sentAt: number;
  /** How long the answer took. */
  readonly ms: number;
}

const windowMs = 50;
/** So many windows in a row make a recovery: one alone may be luck, and much later ones have troubles of their own. */
const enough = 3;

/**
 * Milliseconds from the end of a stall to the first window of 50 ms, of three in a row, whose requests have a 99th
 * percentile of no more than twice that before the stall. Requests count to the window in which they were sent. Infinity:
 * there is none within the measurement.
 */
export function recoveryOf(
  answered: readonly Answered[],
  stall: { readonly from: number; readonly to: number },
  duration: number,
): number {
  const before = answered.filter(({ sentAt }) => sentAt >= 0 && sentAt < stall.from);
  const usual = toTail(before.map(({ ms }) => ms)).p99;
  const windows = Array.from({ length: Math.floor((duration - stall.to) / windowMs) }, (): number[] => []);
  for (const { sentAt, ms } of answered) {
    windows[Math.floor((sentAt - stall.to) / windowMs)]?.push(ms);
  }
  const isBack = windows.map((times) => times.length > 0 && toTail(times).p99 <= 2 * usual);
  const first = isBack.findIndex(
    (_, at) => at + enough <= isBack.length && isBack.slice(at, at + enough).every(Boolean),
  );
  return first === -1 ? Number.POSITIVE_INFINITY : first * windowMs;
}
