import { type ApiKey, BudgetPeriod } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { formatUsd, maxPicoUsd, parseUsd } from "../../../lib/money.ts";
import { fromLocalTime, toLocalTime } from "../../format/time.ts";

/** Limits as they are typed. Empty: none of its own. */
export interface LimitTexts {
  readonly rpm: string;
  readonly tokensPerMinute: string;
  readonly maxInFlight: string;
  readonly budget: string;
  readonly budgetPeriod: string;
  /** A ServiceClass. */
  readonly serviceClass: string;
  /** The reader's own time, as a field of the browser has it. */
  readonly expires: string;
  /** Model.id. Empty: all that are served. */
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

/** The limits of a key, to be changed. */
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

/** As the contract has them. What is empty is left out. Throws what is wrong. */
export function toLimits(limits: LimitTexts) {
  const rpm = toWhole(limits.rpm, "Requests a minute");
  const tokensPerMinute = toWhole(limits.tokensPerMinute, "Tokens a minute");
  const maxInFlight = toWhole(limits.maxInFlight, "Requests at once");
  const budget = toBudget(limits.budget.trim());
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

/** Limits with a field of their own, by their names in the contract. */
const paths = {
  rpm: "rpm",
  tokensPerMinute: "tokens_per_minute",
  maxInFlight: "max_in_flight",
  models: "models",
  expires: "expires_at",
  serviceClass: "service_class",
} as const;

/** The limits that were changed, by their names in the contract: the others stay, also where somebody else has changed them. */
export function findChanged(before: LimitTexts, after: LimitTexts): string[] {
  const isChanged = (name: keyof LimitTexts) => String(before[name]) !== String(after[name]);
  const changed = (Object.keys(paths) as (keyof typeof paths)[]).filter(isChanged).map((name) => paths[name]);
  if (after.budget.trim() === "") {
    return isChanged("budget") ? [...changed, "budget_pico_usd"] : changed;
  }
  const isBudgetChanged = isChanged("budget") || isChanged("budgetPeriod");
  return isBudgetChanged ? [...changed, "budget_pico_usd", "budget_period"] : changed;
}

function toBudget(text: string): bigint | undefined {
  if (text === "") {
    return undefined;
  }
  const pico = parseUsd(text);
  if (pico === undefined || pico === 0n || pico > maxPicoUsd) {
    throw new Error("The budget has to be USD above 0 and below 9007, such as 20 or 4.99. Leave it empty for none.");
  }
  return pico;
}

function toWhole(text: string, name: string): number | undefined {
  const typed = text.trim();
  if (typed === "") {
    return undefined;
  }
  const digits = /^\d{1,3}([,_ ]\d{3})+$/.test(typed) ? typed.replace(/[,_ ]/g, "") : typed;
  if (!/^[1-9]\d{0,8}$/.test(digits)) {
    throw new Error(`${name} has to be a whole number above zero and below 1,000,000,000. Leave it empty for none.`);
  }
  return Number(digits);
}
