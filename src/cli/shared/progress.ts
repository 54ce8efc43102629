import { describeProgress, type Progress, progressEveryMs, type Report } from "#lib/text/progress.ts";
import type { Io } from "./io.ts";

/** Shows at a terminal the progress of a task that reports its steps, even while one step takes long. */
export async function whileTelling<T>(
  what: string,
  unit: string,
  { progress }: Pick<Io, "progress">,
  work: (report: Report) => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  let where: Progress = { done: 0, total: 0 };
  const report: Report = (done, total, place) => {
    where = { done, total, ...(place !== undefined && { place }) };
  };
  return everyNowAndThen(
    () => progress(describeProgress(what, unit, where, performance.now() - startedAt)),
    () => work(report),
  );
}

/** Shows at a terminal that another process is still at work, and the longest remaining wait. */
export async function whileWaiting<T>(
  what: string,
  mostMs: number,
  { progress }: Pick<Io, "progress">,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const tell = () => {
    const since = Math.round((performance.now() - startedAt) / 1000);
    progress(`${what} for ${since} s; at most ${Math.max(0, Math.round(mostMs / 1000) - since)} s more`);
  };
  return everyNowAndThen(tell, work);
}

async function everyNowAndThen<T>(tell: () => void, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(tell, progressEveryMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
