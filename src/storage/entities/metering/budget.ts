import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { amount } from "../amount.ts";

/** One window of a key's budget, from its first request on. All keys of a rotation chain share it. */
export const Budget = defineEntity({
  name: "Budget",
  properties: {
    /** The id of the chain's first key. */
    id: p.uuid().primary(),
    /** The period and the window's number since 1970 in UTC, such as "day 20779". "total": the only window. */
    windowName: p.string().primary(),
    accountId: p.uuid(),
    /** The limit under which it was last leased. 0: the key's limit or period was set since then. */
    leasedUnder: amount(),
    /** The keys' spending in the window outside of its slices, counted when the limit was set or changed. */
    spentOutsideSlices: amount(),
    /** Lent to cores: the sum of its open slices. */
    leased: amount(),
    /** Spent: `spentOutsideSlices`, plus spending through closed slices, plus charges that came after their slice was closed. */
    spent: amount(),
    /** The part of the limit, in percent, that events have announced as spent. */
    announcedPercent: p.integer().default(0),
  },
  checks: [{ name: "budget_parts", expression: "spent_outside_slices >= 0 and leased >= 0 and spent >= 0" }],
});
export type Budget = InferEntity<typeof Budget>;

/** A part of a budget's window that one core may spend without asking. */
export const BudgetSlice = defineEntity({
  name: "BudgetSlice",
  properties: {
    id: p.uuid().primary(),
    budgetId: p.uuid(),
    windowName: p.string(),
    coreId: p.uuid(),
    epoch: p.integer(),
    granted: amount(),
    /**
     * May exceed what was granted when an engine exceeds its cap. A charge that comes after the slice was closed counts
     * here, too.
     */
    spent: amount(),
    open: p.boolean(),
  },
  indexes: [{ properties: ["coreId"], where: "open" }, { properties: ["budgetId", "windowName"] }],
  checks: [{ name: "budget_slice_amounts", expression: "granted >= 0 and spent >= 0" }],
});
export type BudgetSlice = InferEntity<typeof BudgetSlice>;
