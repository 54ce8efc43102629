/** The interval between progress reports, in milliseconds. A shorter task reports nothing. */
export const progressEveryMs = 2000;

/** The progress of a task. */
export interface Progress {
  readonly done: number;
  /** 0: the size is not known yet. */
  readonly total: number;
  /** The current place, such as the next step. */
  readonly place?: string;
}

/** Notes the progress of a task. */
export type Report = (done: number, total: number, place?: string) => void;

/** Reports every two seconds the progress of a task of known size, and its remaining time. */
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

/**
 * A text such as "copying: 10 %, 1,000 of 10,000 rows, about 18 s left". The remaining time is extrapolated from the
 * time so far.
 */
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
