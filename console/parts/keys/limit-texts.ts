import { type ApiKey, BudgetPeriod } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { formatUsd } from "../../../lib/money.ts";
import { fromLocalTime, toLocalTime } from "../../format/time.ts";
import { readUsd, readWhole } from "../forms/typed.ts";

/** Limits as they are typed. Empty: the key has no limit of its own. */
export interface LimitTexts {
  readonly rpm: string;
  readonly tokensPerMinute: string;
  readonly maxInFlight: string;
  readonly budget: string;
  readonly budgetPeriod: string;
  /** A ServiceClass. */
  readonly serviceClass: string;
  /** In the reader's zone, in the format of a browser's date-and-time field. */
  readonly expires: string;
  /** Model.id of each. Empty: all served models. */
  readonly models: readonly string[];
}

export const emptyLimits: LimitTexts = {
  rpm: "",
  tokensPerMinute: "",
  maxInFlight: "",
  budget: "",
  budgetPeriod: String(BudgetPeriod.MONTH),
  serviceClass: String(ServiceClass.UNSPECIFIED),
  expires: "",
  models: [],
};

/** The current limits of a key, for editing. */
export function fromKey(key: ApiKey): LimitTexts {
  const text = (value: number | undefined) => (value === undefined ? "" : String(value));
  return {
    rpm: text(key.rpm),
    tokensPerMinute: text(key.tokensPerMinute),
    maxInFlight: text(key.maxInFlight),
    budget: key.budgetPicoUsd === undefined ? "" : formatUsd(key.budgetPicoUsd),
    budgetPeriod: String(key.budgetPeriod || BudgetPeriod.MONTH),
    serviceClass: String(key.serviceClass),
    expires: key.expiresAt === undefined ? "" : toLocalTime(key.expiresAt),
    models: key.models,
  };
}

/** The limits in the contract's form. Empty fields are left out. Throws an error that names an invalid field. */
export function toLimits(limits: LimitTexts) {
  const rpm = readWhole(limits.rpm, "Requests a minute");
  const tokensPerMinute = readWhole(limits.tokensPerMinute, "Tokens a minute");
  const maxInFlight = readWhole(limits.maxInFlight, "Requests at once");
  const budget = readUsd(limits.budget, "The budget");
  const expiresAt = limits.expires === "" ? undefined : fromLocalTime(limits.expires);
  return {
    models: [...limits.models],
    serviceClass: Number(limits.serviceClass) as ServiceClass,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(rpm === undefined ? {} : { rpm }),
    ...(tokensPerMinute === undefined ? {} : { tokensPerMinute }),
    ...(maxInFlight === undefined ? {} : { maxInFlight }),
    ...(budget === undefined
      ? {}
      : { budgetPicoUsd: budget, budgetPeriod: Number(limits.budgetPeriod) as BudgetPeriod }),
  };
}

/** Limits that each have one field, with their names in the contract. */
const paths = {
  rpm: "rpm",
  tokensPerMinute: "tokens_per_minute",
  maxInFlight: "max_in_flight",
  models: "models",
  expires: "expires_at",
  serviceClass: "service_class",
} as const;

/** The contract's names of the changed limits. Unchanged limits stay, even where somebody else has changed them. */
export function findChanged(before: LimitTexts, after: LimitTexts): string[] {
  const isChanged = (name: keyof LimitTexts) => String(before[name]) !== String(after[name]);
  const changed = (Object.keys(paths) as (keyof typeof paths)[]).filter(isChanged).map((name) => paths[name]);
  if (after.budget.trim() === "") {
    return isChanged("budget") ? [...changed, "budget_pico_usd"] : changed;
  }
  const isBudgetChanged = isChanged("budget") || isChanged("budgetPeriod");
  return isBudgetChanged ? [...changed, "budget_pico_usd", "budget_period"] : changed;
}
