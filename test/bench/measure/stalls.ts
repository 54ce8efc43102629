import { type Percentiles, percentiles } from "../report/statistics.ts";

/** Often enough that a turn is told from the next one. */
const lookMs = 1;

/**
 * Watches how long the event loop is kept from its timers. Returns the function that ends it and tells the milliseconds of CPU
 * that this thread used between two looks: what the thread did, without the time that the machine gave to others.
 */
export function watchStalls(): () => Percentiles {
  const samples: number[] = [];
  let before = process.threadCpuUsage();
  const timer = setInterval(() => {
    const used = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    samples.push((used.user + used.system) / 1000);
  }, lookMs);
  return () => {
    clearInterval(timer);
    return percentiles(samples);
  };
}
