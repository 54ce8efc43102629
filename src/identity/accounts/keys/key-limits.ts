import type { KeyLimits as WiredLimits } from "#gen/tollgate/accounts/v1/key_limits_pb.js";
import { invalid } from "#lib/ids/validate-id.ts";
import type { BudgetPeriod } from "#lib/limits/budget-period.ts";
import { isLimited, type LimitValues, limitEntries, limitPath, readLimits } from "#lib/limits/key-limits.ts";
import { nearest } from "#lib/text/nearest.ts";

/** The facts for checking limits. */
export interface LimitRules {
  readonly now: number;
  /** Ids of the served models. */
  readonly models: readonly string[];
}

/** Limits by their names in an update mask. Undefined: the request does not contain it. */
export function presentLimits(wired: WiredLimits | undefined): Record<string, true | undefined> {
  return Object.fromEntries(
    limitEntries.map(([field]) => [limitPath(field), isLimited(wired, field) ? true : undefined]),
  );
}

/** Reads the limits of a request that are to be set. A named limit that is absent is lifted. Throws INVALID_ARGUMENT. */
export function readNamedLimits(
  wired: WiredLimits | undefined,
  named: ReadonlySet<string>,
  rules: LimitRules,
): LimitValues {
  const limits = readLimits(wired);
  const asked: LimitValues = Object.fromEntries(
    limitEntries.filter(([field]) => named.has(limitPath(field))).map(([field]) => [field, limits[field]]),
  );
  if (asked.models) {
    requireServed(asked.models, rules.models);
  }
  if (asked.expiresAt) {
    requireFuture(asked.expiresAt, rules.now);
  }
  return asked;
}

/** Throws INVALID_ARGUMENT for a period without a budget: the key would seem limited but is not. */
export function requireBudget({ budgetPeriod }: LimitValues, { budgetPicoUsd }: LimitValues): void {
  if (budgetPeriod && !budgetPicoUsd) {
    const message = "The key has no budget that this could be the period of: name its amount, too.";
    throw invalid(limitPath("budgetPeriod"), message);
  }
}

/** A budget always has a period, and a key without a budget has none. */
export function settlePeriod({ budgetPicoUsd, budgetPeriod }: LimitValues): BudgetPeriod | null {
  return budgetPicoUsd === null || budgetPicoUsd === undefined ? null : (budgetPeriod ?? "total");
}

function requireServed(ids: readonly string[], served: readonly string[]): void {
  const unknown = ids.find((id) => !served.includes(id));
  if (unknown !== undefined) {
    const shown = unknown.slice(0, 200);
    const near = nearest(shown, served); // the time for this grows with both lengths
    const hint = near === undefined ? "" : ` Did you mean '${near}'?`;
    throw invalid(limitPath("models"), `The model '${shown}' is not served.${hint}`);
  }
}

function requireFuture(expiresAt: Date, now: number): void {
  // A date that both databases can store. The comparison also refuses an invalid date.
  if (!(expiresAt.getTime() > now && expiresAt.getUTCFullYear() <= 9999)) {
    throw invalid(limitPath("expiresAt"), "A key must expire in the future, before the year 10000.");
  }
}
