import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { isCustomer } from "../../../app/session.ts";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { Name } from "../../../parts/figures/name.tsx";
import { AccountField } from "../../../parts/forms/account-field.tsx";
import { Field, Select } from "../../../parts/forms/field.tsx";
import { FilterForm, filterField } from "../../../parts/forms/filters.tsx";
import { loadKeyNames } from "../../../parts/keys/key-names.ts";
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
      <Field label="Key" isCode {...filterField(filters, "key")} hint={<KeyHint id={filters.key.trim()} />} />
      <Field label="Model" {...filterField(filters, "model")} />
    </FilterForm>
  );
}

/** The name of the key that is typed. */
function KeyHint({ id }: { readonly id: string }) {
  const { data } = useQuery((signal) => loadKeyNames([id], signal), [id]);
  const name = data?.get(id);
  return name === undefined ? "The key's id." : <Name text={name} />;
}
