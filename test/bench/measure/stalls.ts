import { PerformanceObserver } from "node:perf_hooks";
import { type Percentiles, percentiles } from "../report/statistics.ts";
import { createThreadClock } from "./thread-clock.ts";

/** Often enough that a turn is told from the next one. */
const lookMs = 1;

/** The longest turn of the event loop, and what fell into it. */
export interface LongestTurn {
  /** CPU time of the thread, in milliseconds. */
  readonly cpu: number;
  /** Milliseconds by the wall clock: longer than `cpu` where the machine gave time to others. */
  readonly wall: number;
  /** Milliseconds of it, by the wall clock, that collections of garbage took. */
  readonly collecting: number;
  /** What was under way at its end. */
  readonly during: string;
}

/** How long the event loop was kept from its timers: milliseconds of CPU, turn by turn. */
export interface Stalls extends Percentiles {
  readonly longest: LongestTurn;
}

/**
 * Watches how long the event loop is kept from its timers, by the CPU that this thread uses between two looks: what the
 * thread does, without the time that the machine gives to others. `under` names what is under way. Returns the function that
 * ends it and tells what was seen.
 */
export function watchStalls(under: () => string = () => ""): () => Promise<Stalls> {
  const samples: number[] = [];
  const collections: { readonly from: number; readonly to: number }[] = [];
  const note = (entries: readonly PerformanceEntry[]) => {
    for (const { startTime, duration } of entries) {
      collections.push({ from: startTime, to: startTime + duration });
    }
  };
  const observer = new PerformanceObserver((list) => note(list.getEntries()));
  observer.observe({ entryTypes: ["gc"] });
  const cpuNow = createThreadClock();
  let [cpu, at] = [cpuNow(), performance.now()];
  let longest = { cpu: 0, from: at, to: at, during: "" };
  const timer = setInterval(() => {
    const [now, used] = [performance.now(), cpuNow()];
    const turn = (used - cpu) / 1000;
    samples.push(turn);
    if (turn > longest.cpu) {
      longest = { cpu: turn, from: at, to: now, during: under() };
    }
    [cpu, at] = [used, now];
  }, lookMs);
  return async () => {
    clearInterval(timer);
    await new Promise((resolve) => setTimeout(resolve, lookMs)); // collections are told of a turn later
    note(observer.takeRecords());
    observer.disconnect();
    const { from, to, ...rest } = longest;
    const collecting = collections.reduce(
      (sum, one) => sum + Math.max(0, Math.min(one.to, to) - Math.max(one.from, from)),
      0,
    );
    return { ...percentiles(samples), longest: { ...rest, wall: to - from, collecting } };
  };
}
