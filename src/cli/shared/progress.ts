import type { Io } from "./io.ts";

/** A task that is done sooner says nothing; a longer one says where it is this often. Milliseconds. */
const everyMs = 2000;

/** Tells on standard error how far a task is whose size is known. */
export function trackProgress(what: string, unit: string, { note }: Pick<Io, "note">, now = () => performance.now()) {
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
    note(`${what}: ${part} %, ${grouped(done)} of ${grouped(total)} ${unit}, about ${leftS} s left`);
  };
}

/** Tells on standard error how far a task is whose size is not known, and where it is. */
export function trackCount(what: string, unit: string, { note }: Pick<Io, "note">, now = () => performance.now()) {
  let toldAt = now();
  return (done: number, place?: string): void => {
    const at = now();
    if (at - toldAt >= everyMs) {
      toldAt = at;
      note(`${what}: ${grouped(done)} ${unit} so far${place === undefined ? "" : `, at ${place}`}`);
    }
  };
}

/** Notes on standard error that another process is still at work, and the longest wait for it. */
export async function whileWaiting<T>(
  what: string,
  mostMs: number,
  { note }: Pick<Io, "note">,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const timer = setInterval(() => {
    const since = Math.round((performance.now() - startedAt) / 1000);
    note(`${what} for ${since} s; at most ${Math.max(0, Math.round(mostMs / 1000) - since)} s more`);
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
