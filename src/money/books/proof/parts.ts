// The parts of the open days that rules about receipts are proved in. One query over all receipts of a busy day holds its
// snapshot for seconds, and takes a processor for as long.

import type { Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { msOf } from "../../store/rollups.ts";
import type { Rule } from "./rules/reconcile-rules.ts";
import { openReceipts, type PartOfTime, type Scope } from "./scope.ts";

/** Receipts that are proved at once, in a tenth of a second or so. */
export const partSize = 10_000;
/** Parts whose hours are compared with their sums at once: adding receipts up takes a tenth of proving them. */
const partsOfHours = 10;
const hourMs = 3_600_000;

/**
 * The times, in order, at which the receipts of a scope are cut into parts of so many. The last is after the newest one:
 * what comes while the parts are proved is left to the next proof, so that a proof ends. Empty: there is nothing to cut.
 */
export async function readCuts(
  snapshot: Pick<Snapshot, "rows">,
  { scope, dialect, size }: { readonly scope: Scope; readonly dialect: Storage["dialect"]; readonly size: number },
): Promise<number[]> {
  const cuts = new Set<number>();
  const ms = dialect === "postgresql" ? msOf.postgresql("settled_at") : msOf.sqlite("settled_at");
  const sql = `
    select ms from (
      select ${ms} as ms, row_number() over (order by settled_at desc) as place
      from (${openReceipts(scope, dialect)}) receipt) places
    where (place - 1) % ${size} = 0 order by ms`;
  for await (const rows of snapshot.rows(sql)) {
    for (const row of rows) {
      cuts.add(Number(row.ms) + 1);
    }
  }
  return cuts.size > 1 ? [...cuts] : [];
}

/** The parts that rules of a kind are proved in. Hours are whole in their part, which has all that is counted in them. */
export function partsOf(kind: Rule["ofDay"], cuts: readonly number[]): readonly PartOfTime[] {
  if (kind === "receipts") {
    return cuts.length === 0 ? [{}] : cuts.map((to, at) => ({ ...after(cuts[at - 1]), to }));
  }
  if (kind === "hours") {
    const hours = cuts.filter((_, at) => (at + 1) % partsOfHours === 0).map((ms) => Math.floor(ms / hourMs) * hourMs);
    const ends = [...new Set(hours), undefined];
    return ends.map((to, at) => ({ ...after(ends[at - 1]), ...(to !== undefined && { to }) }));
  }
  return [{}];
}

const after = (from: number | undefined): PartOfTime => (from === undefined ? {} : { from });
