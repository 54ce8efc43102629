import { openSync, readSync } from "node:fs";

/** The second number of a schedstat file: time in the run queue in nanoseconds; here in milliseconds. See sched-stats(5). */
export function parseQueued(line: string): number {
  return Number(line.split(" ")[1]) / 1e6;
}

/**
 * Makes a clock of the time, in milliseconds, in which this process's first thread was ready to run and the machine ran
 * others. It may be read from any thread of the process, in a few microseconds; a wait under way counts at its end.
 */
export function createQueueClock(): () => number {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const bytes = Buffer.alloc(100);
  return () => parseQueued(bytes.toString("latin1", 0, readSync(file, bytes, 0, bytes.length, 0)));
}
