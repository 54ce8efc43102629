import { dayMs } from "#lib/time/days.ts";
import type { Storage } from "#src/storage/storage.ts";

/** That a seal is one that near slices need. PostgreSQL would read all sealed slices, but for the ids of seals in an array. */
export const amongSliceSeals = {
  postgresql: "= any(array(select id from slice_seal))",
  sqlite: "in (select id from slice_seal)",
} as const;

/** Slices are near for so many days after they were leased. Windows of budgets that begin anew are half as long. */
const nearDays = 64;
/** By so many days the clocks that named a slice, its lot and its budget, and that dated its receipts, may differ. */
const clockDays = 2;

/** The first id of a time: ids begin with the milliseconds. */
const idOf = (ms: number) => `'${ms.toString(16).padStart(12, "0").replace(/.{8}/, "$&-")}-7000-8000-000000000000'`;

/**
 * The tables of the slices that rules compare, with the seals that tell of them, their budgets and lots: those that were
 * leased or made lately, so that a proof does not take longer with every slice that was closed. Of budgets without an end,
 * only a young one has few. `sealedTo`: the end of the last sealed day, in milliseconds since the epoch. Undefined: all slices
 * are near.
 */
export function nearSlices(sealedTo: number | undefined, dialect: Storage["dialect"]): string {
  const from = sealedTo === undefined ? undefined : Math.max(0, sealedTo - nearDays * dayMs);
  const since = from === undefined ? "" : ` where id >= ${idOf(from)}`;
  const young = from === undefined ? "" : ` where id >= ${idOf(from + clockDays * dayMs)}`;
  const sealedSince = from === undefined ? "" : ` where day >= ${from / dayMs - clockDays}`;
  const budgets =
    from === undefined
      ? "select * from budget"
      : `select budget.* from (select distinct budget_id, window_name from near_budget_slice) near
        join budget on budget.id = near.budget_id and budget.window_name = near.window_name
        where near.window_name <> 'total' or budget.id >= ${idOf(from + clockDays * dayMs)}`;
  const among = dialect === "postgresql" ? amongSliceSeals.postgresql : amongSliceSeals.sqlite;
  return `
    slice_seal as not materialized (select id from believed_seal${sealedSince}),
    sealed_cost as not materialized (select slice_id, cost from sealed_slice where seal_id ${among}),
    near_slice as not materialized (select * from slice${since}),
    near_budget_slice as not materialized (select * from budget_slice${since}),
    near_budget as not materialized (${budgets}),
    near_lot as not materialized (select * from lot${young})`;
}
