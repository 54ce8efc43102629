import type { ComponentChild } from "preact";
import { type LimitKind, limitEntries } from "../../../lib/limits/key-limits.ts";
import { Field, Select } from "../forms/field.tsx";
import { type LimitTexts, readLines } from "./limit-texts.ts";
import { ModelsField } from "./models-field.tsx";

const periods = [
  { value: "day", text: "a day (UTC)" },
  { value: "week", text: "a week, from Monday" },
  { value: "month", text: "a calendar month" },
  { value: "total", text: "in all" },
];

const classes = [
  { value: "", text: "as its account" },
  { value: "priority", text: "priority: goes first" },
  { value: "standard", text: "standard" },
  { value: "flex", text: "flex: goes last" },
];

interface LimitField {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  /** What the empty field shows. */
  readonly none: string;
  readonly onInput: (value: string) => void;
}

/** The field for a limit of each kind. */
const fields: Readonly<Record<LimitKind, (limit: LimitField) => ComponentChild>> = {
  count: ({ none, ...limit }) => <Field {...limit} isNumber placeholder={none} />,
  usd: ({ none, ...limit }) => <Field {...limit} unit="$" isNumber placeholder={none} />,
  period: ({ onInput, ...limit }) => <Select {...limit} options={periods} onChange={onInput} />,
  class: ({ onInput, ...limit }) => (
    <Select
      {...limit}
      options={classes}
      onChange={onInput}
      hint="Where requests wait for a server. Never above its account's."
    />
  ),
  time: (limit) => <Field {...limit} type="datetime-local" hint={`Your time zone. Empty: ${limit.none}.`} />,
  models: ({ value, onInput }) => (
    <div class="across">
      <ModelsField chosen={readLines(value) ?? []} onChange={(ids) => onInput(ids.join("\n"))} />
    </div>
  ),
};

export function LimitFields({
  limits,
  onChange,
}: {
  readonly limits: LimitTexts;
  readonly onChange: (limits: LimitTexts) => void;
}) {
  return (
    <div class="fields">
      {limitEntries.map(([field, { kind, label, name, none }]) => {
        const Input = fields[kind];
        const onInput = (value: string) => onChange({ ...limits, [field]: value });
        return <Input key={field} label={label} name={name} none={none} value={limits[field]} onInput={onInput} />;
      })}
    </div>
  );
}
