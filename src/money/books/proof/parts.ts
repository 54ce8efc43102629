// The parts of the open days that rules about receipts are proved in. One query over all receipts of a busy day holds its
// snapshot for seconds, and takes a processor for as long.

import { hourMs } from "#lib/time/days.ts";
import type { Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { msOf } from "../../store/rollups.ts";
import type { Rule } from "./rules/reconcile-rules.ts";
import { only, openReceipts, openSpans, type PartOfTime, type Scope } from "./scope.ts";

/** Receipts that are proved at once, in a tenth of a second or so. */
export const partSize = 10_000;
/** Parts that are counted at once, or whose hours are compared with their sums: either takes a tenth of proving them. */
export const partsAtOnce = 10;

/** Reads a database in pieces. */
export interface PieceReader {
  readonly dialect: Storage["dialect"];
  /** Reads from a snapshot of its own, once more where that broke off: so `of` leaves nothing behind. */
  readonly read: <T>(of: (snapshot: Snapshot) => Promise<T>) => Promise<T>;
  /** Leaves time to others before a piece. */
  readonly pace: () => Promise<void>;
}

/**
 * The times, in order, at which the receipts of a scope are cut into parts of so many. The last is after the newest one:
 * what comes while the parts are proved is left to the next proof, so that a proof ends. Empty: there is nothing to cut.
 */
export async function readCuts({ dialect, read, pace }: PieceReader, scope: Scope, size: number): Promise<number[]> {
  const cuts = new Set<number>();
  // Each span by itself: a planner that wants the order of time would read all that lies between two of them.
  for (const { from: first, to } of openSpans(scope)) {
    let from = first;
    for (let isOver = false; !isOver; ) {
      await pace();
      const sql = endsOfParts(partOf(from, to), dialect, size);
      const ends = await read((snapshot) => snapshot.few(sql));
      for (const { ms } of ends) {
        from = Number(ms) + 1;
        cuts.add(from);
      }
      isOver = ends.reduce((sum, { receipts }) => sum + Number(receipts), 0) < size * partsAtOnce;
    }
  }
  return cuts.size > 1 ? [...cuts] : [];
}

/** The end of each of the first parts of a span, with the receipts in it. The index of their times has all that it reads. */
const endsOfParts = (within: PartOfTime, dialect: Storage["dialect"], size: number): string => `
  select max(ms) as ms, count(*) as receipts from (
    select ${dialect === "postgresql" ? msOf.postgresql("settled_at") : msOf.sqlite("settled_at")} as ms,
      (row_number() over (order by settled_at) - 1) / ${size} as part
    from (
      select settled_at from (${openReceipts(only(within), dialect)}) receipt
      order by settled_at limit ${size * partsAtOnce}) first) parts
  group by part order by part`;

/** The parts that rules of a kind are proved in. Hours are whole in their part, which has all that is counted in them. */
export function partsOf(kind: Rule["ofDay"], cuts: readonly number[]): readonly PartOfTime[] {
  if (kind === "receipts") {
    return cuts.length === 0 ? [{}] : partsBetween(cuts);
  }
  if (kind === "hours") {
    const hours = atOnce(cuts).map((ms) => Math.floor(ms / hourMs) * hourMs);
    const ends = [...new Set(hours), undefined];
    return ends.map((to, at) => partOf(ends[at - 1], to));
  }
  return [{}];
}

/** The parts that end at cuts. `from`: the beginning of the first one, if it has any. */
export const partsBetween = (cuts: readonly number[], from?: number): PartOfTime[] =>
  cuts.map((to, at) => partOf(cuts[at - 1] ?? from, to));

/** The cuts between as many parts as are read at once. */
export const atOnce = (cuts: readonly number[]): number[] => cuts.filter((_, at) => (at + 1) % partsAtOnce === 0);

const partOf = (from: number | undefined, to: number | undefined): PartOfTime => ({
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
});
