import { describeProgress, type Progress, progressEveryMs, type Report } from "../../../lib/text/progress.ts";
import type { Io } from "./io.ts";

/** Tells at a terminal how far a task is that reports its steps, also while one of them takes long. */
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

/** Tells at a terminal that another process is still at work, and the longest wait for it. */
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
