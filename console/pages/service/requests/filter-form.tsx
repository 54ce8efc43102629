import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { setQuery } from "../../../app/router.ts";
import { isCustomer } from "../../../app/session.ts";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { Name } from "../../../parts/figures/name.tsx";
import { AccountField } from "../../../parts/forms/account-field.tsx";
import { EndFields } from "../../../parts/forms/ends.tsx";
import { Field, Select } from "../../../parts/forms/field.tsx";
import { loadKeyNames } from "../../../parts/keys/key-names.ts";
import { type Filters, outcomeOptions } from "./filters.ts";

const reasons = Object.values(Reason)
  .filter((value): value is string => typeof value === "string")
  .sort();
const reasonOptions = [
  { value: "", text: "Any" },
  ...reasons.map((reason) => ({ value: reason, text: reason.toLowerCase().replaceAll("_", " ") })),
];

/** The filters of the list. They are in the address. */
export function FilterForm({ filters }: { readonly filters: Filters }) {
  const set = (name: keyof Filters) => (value: string) => setQuery({ [name]: value });
  return (
    <div class="fields filter across-page">
      <Select label="Ended" name="outcome" value={filters.outcome} options={outcomeOptions} onChange={set("outcome")} />
      <Select label="Reason" name="reason" value={filters.reason} options={reasonOptions} onChange={set("reason")} />
      {!isCustomer.value && <AccountField label="Account" value={filters.account} onInput={set("account")} />}
      <Field
        label="Key"
        name="key"
        isCode
        value={filters.key}
        onInput={set("key")}
        hint={<KeyHint id={filters.key.trim()} />}
      />
      <Field label="Model" name="model" value={filters.model} onInput={set("model")} />
      <EndFields ends={filters} />
    </div>
  );
}

/** The name of the key that is typed. */
function KeyHint({ id }: { readonly id: string }) {
  const { data } = useQuery((signal) => loadKeyNames([id], signal), [id]);
  const name = data?.get(id);
  return name === undefined ? "The key's id." : <Name text={name} />;
}
