import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { BudgetPeriod as Period } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import type { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { readWiredClass } from "#lib/service-class.ts";
import { invalid } from "#lib/validate-id.ts";
import { nearest } from "#src/config/nearest.ts";
import type { ApiKey, BudgetPeriod } from "#src/storage/entities/api-key.ts";

/** Limits of a key as stored. null: no limit. */
export type KeyLimits = Pick<
  ApiKey,
  "rpm" | "models" | "expiresAt" | "tokensPerMinute" | "maxInFlight" | "serviceClass" | "budget" | "budgetPeriod"
>;

/** Limits as a request contains them. */
export interface LimitFields {
  readonly rpm?: number | undefined;
  readonly models: readonly string[];
  readonly expiresAt?: Timestamp | undefined;
  readonly tokensPerMinute?: number | undefined;
  readonly maxInFlight?: number | undefined;
  readonly serviceClass: ServiceClass;
  readonly budgetPicoUsd?: bigint | undefined;
  readonly budgetPeriod: Period;
}

/** The facts for checking limits. */
export interface LimitRules {
  readonly now: number;
  /** Ids of the served models. */
  readonly models: readonly string[];
}

/** Limits by their names in the contract. Undefined: the request does not contain it. */
export function presentLimits({ models, budgetPeriod, ...fields }: LimitFields) {
  return {
    rpm: fields.rpm,
    models: models.length === 0 ? undefined : models,
    expires_at: fields.expiresAt,
    tokens_per_minute: fields.tokensPerMinute,
    max_in_flight: fields.maxInFlight,
    service_class: fields.serviceClass || undefined,
    budget_pico_usd: fields.budgetPicoUsd,
    budget_period: budgetPeriod === Period.UNSPECIFIED ? undefined : budgetPeriod,
  };
}

/**
 * Reads the limits of a request that are to be set. A named limit that is absent is lifted. Throws INVALID_ARGUMENT.
 */
export function readLimits(
  fields: LimitFields,
  named: ReadonlySet<string>,
  { now, models }: LimitRules,
): Partial<KeyLimits> {
  const limits: Partial<KeyLimits> = {};
  if (named.has("rpm")) {
    limits.rpm = fields.rpm ?? null;
  }
  if (named.has("models")) {
    limits.models = readModels(fields.models, models);
  }
  if (named.has("expires_at")) {
    limits.expiresAt = readExpiry(fields.expiresAt, now);
  }
  if (named.has("tokens_per_minute")) {
    limits.tokensPerMinute = fields.tokensPerMinute ?? null;
  }
  if (named.has("max_in_flight")) {
    limits.maxInFlight = fields.maxInFlight ?? null;
  }
  if (named.has("service_class")) {
    limits.serviceClass = readWiredClass(fields.serviceClass) ?? null;
  }
  if (named.has("budget_pico_usd")) {
    limits.budget = readBudget(fields.budgetPicoUsd);
  }
  if (named.has("budget_period")) {
    limits.budgetPeriod = periods[fields.budgetPeriod] ?? null;
  }
  return limits;
}

/** Throws INVALID_ARGUMENT for a period without a budget: the key would seem limited but is not. */
export function requireBudget({ budgetPeriod }: Partial<KeyLimits>, budget: number | null | undefined): void {
  if (budgetPeriod && !budget) {
    throw invalid("budget_period", "The key has no budget that this could be the period of: name its amount, too.");
  }
}

/** A budget always has a period, and a key without a budget has none. */
export function settlePeriod({
  budget,
  budgetPeriod,
}: Pick<KeyLimits, "budget" | "budgetPeriod">): BudgetPeriod | null {
  return budget === null || budget === undefined ? null : (budgetPeriod ?? "total");
}

const periods: Readonly<Record<Period, BudgetPeriod | undefined>> = {
  [Period.UNSPECIFIED]: undefined,
  [Period.TOTAL]: "total",
  [Period.DAY]: "day",
  [Period.WEEK]: "week",
  [Period.MONTH]: "month",
};

/** In pico-USD. Absent: no budget. */
export function readBudget(amount: bigint | undefined): number | null {
  return amount === undefined ? null : Number(amount);
}

function readModels(ids: readonly string[], served: readonly string[]): string[] | null {
  const unknown = ids.find((id) => !served.includes(id));
  if (unknown !== undefined) {
    const shown = unknown.slice(0, 200);
    const near = nearest(shown, served); // the time for this grows with both lengths
    const hint = near === undefined ? "" : ` Did you mean '${near}'?`;
    throw invalid("models", `The model '${shown}' is not served.${hint}`);
  }
  return ids.length === 0 ? null : [...new Set(ids)];
}

function readExpiry(at: Timestamp | undefined, now: number): Date | null {
  const expiresAt = at && timestampDate(at);
  if (expiresAt === undefined) {
    return null;
  }
  // A date that both databases can store. The comparison also refuses an invalid date.
  if (!(expiresAt.getTime() > now && expiresAt.getUTCFullYear() <= 9999)) {
    throw invalid("expires_at", "A key must expire in the future, before the year 10000.");
  }
  return expiresAt;
}
