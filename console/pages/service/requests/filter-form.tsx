import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { isCustomer } from "../../../app/session.ts";
import { AccountField } from "../../../parts/forms/account-field.tsx";
import { Field, Select } from "../../../parts/forms/field.tsx";
import { FilterForm, filterField } from "../../../parts/forms/filters.tsx";
import { KeyField } from "../../../parts/forms/key-field.tsx";
import { outcomeOptions, type RequestFilters } from "./filters.ts";

const reasons = Object.values(Reason)
  .filter((value): value is string => typeof value === "string")
  .sort();
const reasonOptions = [
  { value: "", text: "Any" },
  ...reasons.map((reason) => ({ value: reason, text: reason.toLowerCase().replaceAll("_", " ") })),
];

/** The filters of the list. */
export function RequestFilterForm({ filters }: { readonly filters: RequestFilters }) {
  const select = (name: "outcome" | "reason") => {
    const { onInput: onChange, ...field } = filterField(filters, name);
    return { ...field, onChange };
  };
  return (
    <FilterForm filters={filters}>
      <Select label="Ended" {...select("outcome")} options={outcomeOptions} />
      <Select label="Reason" {...select("reason")} options={reasonOptions} />
      {!isCustomer.value && <AccountField label="Account" {...filterField(filters, "account")} />}
      <KeyField label="Key" {...filterField(filters, "key")} />
      <Field label="Model" {...filterField(filters, "model")} />
    </FilterForm>
  );
}
