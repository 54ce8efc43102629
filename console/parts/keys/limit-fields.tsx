import { BudgetPeriod } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { Field, Select } from "../forms/field.tsx";
import type { LimitTexts } from "./limit-texts.ts";
import { ModelsField } from "./models-field.tsx";

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
