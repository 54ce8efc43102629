/** A task that is done sooner says nothing; a longer one says where it is this often. Milliseconds. */
export const progressEveryMs = 2000;

/** Where a task is. */
export interface Progress {
  readonly done: number;
  /** 0: its size is not known yet. */
  readonly total: number;
  /** Such as the step that comes next. */
  readonly place?: string;
}

/** Takes a note of where a task is. */
export type Report = (done: number, total: number, place?: string) => void;

/** Tells every two seconds how far a task of known size is, and how long it still takes. */
export function trackProgress(
  what: string,
  unit: string,
  tell: (text: string) => void,
  now = () => performance.now(),
): Report {
  const startedAt = now();
  let toldAt = startedAt;
  return (done, total, place) => {
    const at = now();
    if (at - toldAt < progressEveryMs || done === 0) {
      return;
    }
    toldAt = at;
    tell(describeProgress(what, unit, { done, total, ...(place !== undefined && { place }) }, at - startedAt));
  };
}

/** Such as "copying: 10 %, 1,000 of 10,000 rows, about 18 s left". The time that is left follows from that of what is done. */
export function describeProgress(
  what: string,
  unit: string,
  { done, total, place }: Progress,
  sinceMs: number,
): string {
  if (total === 0) {
    return `${what}: counting ${unit}`;
  }
  const part = Math.min(100, Math.floor((100 * done) / total));
  const leftS = Math.ceil(((sinceMs / done) * Math.max(0, total - done)) / 1000);
  const left = done === 0 ? "" : `, about ${leftS} s left`;
  return `${what}: ${part} %, ${grouped(done)} of ${grouped(total)} ${unit}${left}${place === undefined ? "" : `, at ${place}`}`;
}

/** A count with commas. */
function grouped(count: number): string {
  return count.toLocaleString("en-US");
}
