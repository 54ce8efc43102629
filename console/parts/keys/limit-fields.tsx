import { type ApiKey, BudgetPeriod } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { formatUsd, parseUsd } from "../../../lib/money.ts";
import { fromLocalTime, toLocalTime } from "../../format/time.ts";
import { Field, Select } from "../forms/field.tsx";
import { ModelsField } from "./models-field.tsx";

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

const periods = [
  { value: String(BudgetPeriod.DAY), text: "a day (UTC)" },
  { value: String(BudgetPeriod.WEEK), text: "a week, from Monday" },
  { value: String(BudgetPeriod.MONTH), text: "a calendar month" },
  { value: String(BudgetPeriod.TOTAL), text: "in all" },
];

const classes = [
  { value: String(ServiceClass.UNSPECIFIED), text: "as its account" },
  { value: String(ServiceClass.PRIORITY), text: "priority: goes first" },
  { value: String(ServiceClass.STANDARD), text: "standard" },
  { value: String(ServiceClass.FLEX), text: "flex: goes last" },
];

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
  const budget = limits.budget.trim() === "" ? undefined : parseUsd(limits.budget.trim());
  if (limits.budget.trim() !== "" && budget === undefined) {
    throw new Error("The budget has to be decimal USD, such as 20 or 4.99.");
  }
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

export function LimitFields({
  limits,
  onChange,
}: {
  readonly limits: LimitTexts;
  readonly onChange: (limits: LimitTexts) => void;
}) {
  const set = (name: keyof LimitTexts) => (value: string) => onChange({ ...limits, [name]: value });
  return (
    <div class="fields">
      <div class="across">
        <ModelsField chosen={limits.models} onChange={(models) => onChange({ ...limits, models })} />
      </div>
      <Field
        label="Requests a minute"
        name="rpm"
        value={limits.rpm}
        onInput={set("rpm")}
        isNumber
        placeholder="as its account"
      />
      <Field
        label="Tokens a minute"
        name="tpm"
        value={limits.tokensPerMinute}
        onInput={set("tokensPerMinute")}
        isNumber
        placeholder="no limit"
      />
      <Field
        label="Requests at once"
        name="in-flight"
        value={limits.maxInFlight}
        onInput={set("maxInFlight")}
        isNumber
        placeholder="as its account"
      />
      <Field
        label="Budget"
        name="budget"
        value={limits.budget}
        onInput={set("budget")}
        unit="$"
        isNumber
        placeholder="none"
      />
      <Select
        label="Budget for"
        name="period"
        value={limits.budgetPeriod}
        options={periods}
        onChange={set("budgetPeriod")}
      />
      <Select
        label="Class"
        name="class"
        value={limits.serviceClass}
        options={classes}
        onChange={set("serviceClass")}
        hint="Where requests wait for a server. Never above its account's."
      />
      <Field
        label="Works until"
        name="expires"
        type="datetime-local"
        value={limits.expires}
        onInput={set("expires")}
        hint="In your time. Empty: for ever."
      />
    </div>
  );
}

function toWhole(text: string, name: string): number | undefined {
  const digits = text.trim().replace(/[,_ ]/g, "");
  if (digits === "") {
    return undefined;
  }
  if (!/^[1-9]\d{0,9}$/.test(digits)) {
    throw new Error(`${name} has to be a whole number above zero.`);
  }
  return Number(digits);
}
