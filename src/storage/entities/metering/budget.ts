import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { amount } from "../amount.ts";

/** One window of a key's budget, from the first request in it on. Keys that take each other's place share it. */
export const Budget = defineEntity({
  name: "Budget",
  properties: {
    /** The first key of the chain. */
    id: p.uuid().primary(),
    /** The period and the window's number since 1970 in UTC, such as "day 20779"; "total" for the only one. */
    windowName: p.string().primary(),
    accountId: p.uuid(),
    /** The limit that it was last leased by. 0: the key's limit or period was set since then. */
    bound: amount(),
    /** The keys' spending in the window from before this limit, counted when it was set or changed. */
    prior: amount(),
    /** Lent to cores: the sum of its open slices. */
    leased: amount(),
    /** Spent: before it, through slices that are closed, and by charges that came after their slice was. */
    spent: amount(),
    /** Spent in the window in other databases, before the account came here; its own spending, negative, once it has left. */
    carried: amount().default(0),
    /** The part of the limit, in percent, that events have told is spent. */
    told: p.integer().default(0),
  },
  checks: [{ name: "budget_parts", expression: "prior >= 0 and leased >= 0 and spent >= 0" }],
});
export type Budget = InferEntity<typeof Budget>;

/** Part of a budget's window that one core may spend without asking. */
export const BudgetSlice = defineEntity({
  name: "BudgetSlice",
  properties: {
    id: p.uuid().primary(),
    budgetId: p.uuid(),
    windowName: p.string(),
    coreId: p.uuid(),
    epoch: p.integer(),
    granted: amount(),
    /** May pass what was granted when an engine passes its cap; a charge that comes after it was closed counts here too. */
    spent: amount(),
    open: p.boolean(),
  },
  indexes: [{ properties: ["coreId"], where: "open" }, { properties: ["budgetId", "windowName"] }],
  checks: [{ name: "budget_slice_amounts", expression: "granted >= 0 and spent >= 0" }],
});
export type BudgetSlice = InferEntity<typeof BudgetSlice>;
