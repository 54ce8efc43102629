import { useState } from "preact/hooks";
import { navigate, query, setQuery } from "../../../app/router.ts";
import { mayBill } from "../../../app/session.ts";
import { countOf } from "../../../format/numbers.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { MoreRows, usePages } from "../../../parts/calls/more-rows.tsx";
import { Field, Select } from "../../../parts/forms/field.tsx";
import { Page } from "../../../parts/frame/page.tsx";
import { AccountTable } from "./account-table.tsx";
import { CreateAccount } from "./create-account.tsx";
import { findAccounts, type Row } from "./find-accounts.ts";

/** All accounts, or those whose name begins with the address's `name`. */
export default function AccountsPage() {
  const [isCreating, setCreating] = useState(false);
  const name = query.value.get("name") ?? "";
  const state = query.value.get("state") ?? "";
  const order = query.value.get("order") ?? "";
  const pages = usePages<Row>(
    (pageToken, signal) => findAccounts({ name: name.trim(), state, order }, pageToken, signal),
    [name.trim(), state, order],
  );
  const isFiltered = name.trim() !== "" || state !== "" || order !== "";
  return (
    <Page
      title="Accounts"
      lead={leads[order] ?? (name === "" ? "Everybody who pays, oldest first." : "Everybody who pays, by name.")}
      actions={
        mayBill.value &&
        !isCreating && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            Create account
          </button>
        )
      }
    >
      <div class="fields filter across-page">
        <Field
          label="Find an account"
          name="find"
          value={name}
          placeholder="how its name begins, or its id"
          maxLength={200}
          onInput={(text) => setQuery({ name: text, state: "", order: "" })}
        />
        <Select
          label="State"
          name="state"
          value={state}
          options={states}
          onChange={(value) => setQuery({ state: value, name: "", order: "" })}
        />
        <Select
          label="Order"
          name="order"
          value={order}
          options={orders}
          onChange={(value) => setQuery({ order: value, name: "", state: "" })}
        />
      </div>
      <Answer query={pages}>{(rows) => <Found rows={rows} order={order} isFiltered={isFiltered} />}</Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "account")} />
      {isCreating && (
        <CreateAccount onClose={() => setCreating(false)} onCreated={(id) => navigate(`/accounts/${id}`)} />
      )}
    </Page>
  );
}

const states = [
  { value: "", text: "Any" },
  { value: "frozen", text: "Frozen" },
  { value: "in-debt", text: "In debt" },
  { value: "low", text: "Low" },
];

const orders = [
  { value: "", text: "Oldest" },
  { value: "last-use", text: "Last used" },
  { value: "spent", text: "Spent in 30 days" },
];

const leads: Readonly<Record<string, string>> = {
  "last-use": "Everybody who was served, last used first.",
  spent: "Those who spent most in 30 days.",
};

interface Props {
  readonly rows: readonly Row[];
  readonly order: string;
  readonly isFiltered: boolean;
}

function Found({ rows, order, isFiltered }: Props) {
  if (rows.length > 0) {
    return <AccountTable rows={rows} order={order} />;
  }
  return isFiltered ? (
    <Empty title="There is no such account">
      {order === "" ? "Names are found by how they begin, in any case." : "No account has been used."}
    </Empty>
  ) : (
    <Empty title="There is no account yet">Create one, then give it a key and money.</Empty>
  );
}
