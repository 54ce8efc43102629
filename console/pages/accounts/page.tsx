import { useState } from "preact/hooks";
import type { Account } from "#gen/tollgate/accounts/v1/account_pb.js";
import { AccountState } from "#gen/tollgate/accounts/v1/account_requests_pb.js";
import { navigate, query, setQuery } from "../../app/router.ts";
import { mayBill } from "../../app/session.ts";
import { accounts } from "../../contract/clients.ts";
import { isId } from "../../format/ids.ts";
import { countOf } from "../../format/numbers.ts";
import { Answer, Empty } from "../../parts/calls/answer.tsx";
import { type ListPage, MoreRows, usePages } from "../../parts/calls/more-rows.tsx";
import { Amount, mostDecimals } from "../../parts/figures/amount.tsx";
import { Badge } from "../../parts/figures/badge.tsx";
import { Clip } from "../../parts/figures/clip.tsx";
import { Table } from "../../parts/figures/table.tsx";
import { Time } from "../../parts/figures/time.tsx";
import { Field, Select } from "../../parts/forms/field.tsx";
import { Page } from "../../parts/page.tsx";
import { CreateAccount } from "./create-account.tsx";

/** All accounts, or those whose name begins with the address's `name`. */
export default function AccountsPage() {
  const [isCreating, setCreating] = useState(false);
  const name = query.value.get("name") ?? "";
  const state = query.value.get("state") ?? "";
  const pages = usePages<Account>(
    (pageToken, signal) => find(name.trim(), stateOf(state), pageToken, signal),
    [],
    `${name} ${state}`,
  );
  const isFiltered = name.trim() !== "" || state !== "";
  return (
    <Page
      title="Accounts"
      lead={isFiltered ? "Everybody who pays, by name." : "Everybody who pays, oldest first."}
      actions={
        mayBill.value &&
        !isCreating && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            Create account
          </button>
        )
      }
    >
      <div class="fields filter wide">
        <Field
          label="Find an account"
          name="find"
          value={name}
          placeholder="how its name begins, or its id"
          maxLength={200}
          onInput={(text) => setQuery({ name: text, state: "" })}
        />
        <Select
          label="State"
          name="state"
          value={state}
          options={states}
          onChange={(value) => setQuery({ state: value, name: "" })}
        />
      </div>
      <Answer query={pages}>{(rows) => <Found rows={rows} isFiltered={isFiltered} />}</Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "account")} />
      {isCreating && (
        <CreateAccount onClose={() => setCreating(false)} onCreated={(id) => navigate(`/accounts/${id}`)} />
      )}
    </Page>
  );
}

const pageSize = 50;
const states = [
  { value: "", text: "Any" },
  { value: "frozen", text: "Frozen" },
  { value: "in-debt", text: "In debt" },
];

function stateOf(value: string): AccountState {
  const known: Readonly<Record<string, AccountState>> = {
    frozen: AccountState.FROZEN,
    "in-debt": AccountState.IN_DEBT,
  };
  return known[value] ?? AccountState.UNSPECIFIED;
}

/** A page of accounts whose name begins with a text or in a state, or the account of an id. Empty text: all accounts. */
async function find(
  text: string,
  state: AccountState,
  pageToken: string,
  signal: AbortSignal,
): Promise<ListPage<Account>> {
  if (isId(text)) {
    const { account } = await accounts.getAccount({ accountId: text }, { signal });
    return { rows: account === undefined ? [] : [account], next: "" };
  }
  const answer = await accounts.listAccounts({ name: text, state, pageToken, pageSize }, { signal });
  return { rows: answer.accounts, next: answer.nextPageToken };
}

function Found({ rows, isFiltered }: { readonly rows: readonly Account[]; readonly isFiltered: boolean }) {
  if (rows.length > 0) {
    return <AccountTable rows={rows} />;
  }
  return isFiltered ? (
    <Empty title="There is no such account">Names are found by how they begin, in any case.</Empty>
  ) : (
    <Empty title="There is no account yet">Create one, then give it a key and money.</Empty>
  );
}

function AccountTable({ rows }: { readonly rows: readonly Account[] }) {
  const decimals = {
    balance: mostDecimals(rows.map((row) => row.balancePicoUsd)),
    paid: mostDecimals(rows.map((row) => row.paidTotalPicoUsd)),
  };
  return (
    <Table
      caption="Accounts"
      rows={rows}
      keyOf={(row) => row.id}
      columns={[
        {
          name: "Account",
          isHeader: true,
          show: (row) => (
            <a href={`/accounts/${row.id}`}>
              <Clip text={row.name || row.id} />
            </a>
          ),
        },
        {
          name: "Balance",
          isNumber: true,
          show: (row) => <Amount pico={row.balancePicoUsd} name="balance" decimals={decimals.balance} />,
        },
        { name: "State", show: (row) => <State account={row} /> },
        {
          name: "Total paid",
          isNumber: true,
          isOptional: true,
          show: (row) => <Amount pico={row.paidTotalPicoUsd} name="paid" decimals={decimals.paid} />,
        },
        { name: "Created", isNumber: true, isOptional: true, show: (row) => <Time at={row.createdAt} /> },
      ]}
    />
  );
}

function State({ account }: { readonly account: Account }) {
  if (account.frozen) {
    return <Badge tone="bad">Frozen</Badge>;
  }
  if (account.debtPicoUsd > 0n) {
    return <Badge tone="warn">In debt</Badge>;
  }
  if (account.balancePicoUsd === 0n) {
    return <Badge tone="warn">Empty</Badge>;
  }
  return account.freeOnly ? <Badge>Free tier</Badge> : <Badge tone="good">Paid</Badge>;
}
