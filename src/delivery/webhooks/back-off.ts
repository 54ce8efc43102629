const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Pauses after the first failed attempts. The last one is used for all further attempts. */
const pausesMs: readonly number[] = [
  ...[2 * second, 5 * second, 15 * second, minute, 5 * minute, 15 * minute, 30 * minute],
  ...[hour, 2 * hour, 4 * hour, 6 * hour],
];
const giveUpMs = 72 * hour;

/**
 * When to try again after this many failed attempts, the first of them at `firstAt`. Undefined: three days are over.
 */
export function nextAttempt(attempts: number, firstAt: Date, now: Date): Date | undefined {
  const pause = pausesMs[Math.min(attempts, pausesMs.length) - 1] ?? 6 * hour;
  const last = firstAt.getTime() + giveUpMs;
  return now.getTime() >= last ? undefined : new Date(Math.min(now.getTime() + pause, last));
}
