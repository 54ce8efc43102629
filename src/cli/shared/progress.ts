import type { Io } from "./io.ts";

/** A task that is done sooner says nothing; a longer one says where it is this often. Milliseconds. */
const everyMs = 2000;

/** Tells at a terminal how far a task is whose size is known. */
export function trackProgress(
  what: string,
  unit: string,
  { progress }: Pick<Io, "progress">,
  now = () => performance.now(),
) {
  const startedAt = now();
  let toldAt = startedAt;
  return (done: number, total: number): void => {
    const at = now();
    if (at - toldAt < everyMs || done === 0) {
      return;
    }
    toldAt = at;
    const leftS = Math.ceil(((at - startedAt) / done) * ((total - done) / 1000));
    const part = Math.floor((100 * done) / Math.max(total, 1));
    progress(`${what}: ${part} %, ${grouped(done)} of ${grouped(total)} ${unit}, about ${leftS} s left`);
  };
}

/** Tells at a terminal how far a task is whose size is not known, and where it is. */
export function trackCount(
  what: string,
  unit: string,
  { progress }: Pick<Io, "progress">,
  now = () => performance.now(),
) {
  let toldAt = now();
  return (done: number, place?: string): void => {
    const at = now();
    if (at - toldAt >= everyMs) {
      toldAt = at;
      progress(`${what}: ${grouped(done)} ${unit} so far${place === undefined ? "" : `, at ${place}`}`);
    }
  };
}

/** Tells at a terminal that another process is still at work, and the longest wait for it. */
export async function whileWaiting<T>(
  what: string,
  mostMs: number,
  { progress }: Pick<Io, "progress">,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const timer = setInterval(() => {
    const since = Math.round((performance.now() - startedAt) / 1000);
    progress(`${what} for ${since} s; at most ${Math.max(0, Math.round(mostMs / 1000) - since)} s more`);
  }, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

function grouped(count: number): string {
  return count.toLocaleString("en-US");
}
