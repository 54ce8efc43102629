import { BudgetPeriod as WiredPeriod } from "#gen/tollgate/accounts/v1/key_limits_pb.js";

/** How often a budget begins anew, in UTC; a week begins on Monday. total: never. */
export const budgetPeriods = ["total", "day", "week", "month"] as const;

export type BudgetPeriod = (typeof budgetPeriods)[number];

const wiredPeriods: Readonly<Record<BudgetPeriod, WiredPeriod>> = {
  total: WiredPeriod.TOTAL,
  day: WiredPeriod.DAY,
  week: WiredPeriod.WEEK,
  month: WiredPeriod.MONTH,
};

/** A period as the contract's. */
export function toWiredPeriod(period: BudgetPeriod): WiredPeriod {
  return wiredPeriods[period];
}

/** Undefined: unspecified, or a period of a newer client. */
export function readWiredPeriod(wired: WiredPeriod): BudgetPeriod | undefined {
  return budgetPeriods.find((period) => wiredPeriods[period] === wired);
}
