import type { BudgetPeriod } from "#lib/limits/budget-period.ts";
import { dayMs } from "#lib/time/days.ts";

/** A window of a budget, in UTC. */
export interface BudgetWindow {
  /** The period and the window's number since 1970, such as "day 20779". A late charge names its own window by it. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly startsAt: number;
  /** Milliseconds since the epoch. Undefined: the window never ends. */
  readonly endsAt: number | undefined;
}

/** The window that contains a moment. A week begins on Monday. */
export function windowAt(period: BudgetPeriod, now: number): BudgetWindow {
  const day = Math.floor(now / dayMs);
  switch (period) {
    case "day":
      return { name: `day ${day}`, startsAt: day * dayMs, endsAt: (day + 1) * dayMs };
    case "week": {
      const week = Math.floor((day + 3) / 7); // 1970 began on a Thursday
      return { name: `week ${week}`, startsAt: (week * 7 - 3) * dayMs, endsAt: (week * 7 + 4) * dayMs };
    }
    case "month": {
      const date = new Date(now);
      const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
      return {
        name: `month ${(year - 1970) * 12 + month}`,
        startsAt: Date.UTC(year, month),
        endsAt: Date.UTC(year, month + 1),
      };
    }
    default:
      return { name: "total", startsAt: 0, endsAt: undefined };
  }
}

/** The same window in the form of a store's request. */
export function toWindowRequest(budgetId: string, { name, startsAt, endsAt }: BudgetWindow) {
  return { budgetId, windowName: name, windowStart: startsAt, windowEnd: endsAt };
}

/**
 * The time under which a charge within a window is entered: its own time, the window's last moment when it came late,
 * or the first one when the clock was turned back. So exactly the charges settled since a window began count in it.
 */
export function withinWindow({ startsAt, endsAt = Number.MAX_SAFE_INTEGER }: BudgetWindow, now: number): number {
  return Math.min(Math.max(now, startsAt), endsAt - 1);
}
