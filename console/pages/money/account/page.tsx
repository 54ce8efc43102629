import type { Account } from "#gen/tollgate/accounts/v1/account_pb.js";
import type { PageProps } from "../../../app/page-props.ts";
import { accounts } from "../../../contract/clients.ts";
import { Balance } from "../../../parts/account/balance.tsx";
import { Lots } from "../../../parts/account/lots.tsx";
import { Answer } from "../../../parts/calls/answer.tsx";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { Badge } from "../../../parts/figures/badge.tsx";
import { CopyButton } from "../../../parts/figures/copy.tsx";
import { Name } from "../../../parts/figures/name.tsx";
import { Page } from "../../../parts/frame/page.tsx";
import { Tabs, tabOf } from "../../../parts/frame/tabs.tsx";
import { Keys } from "../../../parts/keys/keys.tsx";
import { Money } from "../../../parts/money/money.tsx";
import { AccountActions } from "./actions.tsx";
import { Limits } from "./limits.tsx";
import { People } from "./people.tsx";
import { Receipts } from "./receipts.tsx";
import { Spending } from "./spending.tsx";

const refreshMs = 5000;
const tabs = [
  { value: "money", text: "Money" },
  { value: "keys", text: "Keys" },
  { value: "payments", text: "Payments" },
  { value: "receipts", text: "Receipts" },
  { value: "people", text: "People" },
];

/** One account: what it used, then its money, keys, payments, receipts and people in tabs. */
export default function AccountPage({ id }: PageProps) {
  const query = useQuery(
    async (signal) => (await accounts.getAccount({ accountId: id }, { signal })).account,
    [id],
    refreshMs,
  );
  const account = query.data;
  return (
    <Page
      title={account === undefined ? "Account" : account.name || "Account"}
      parent={{ name: "Accounts", path: "/accounts" }}
      aside={account?.frozen && <Badge tone="bad">Frozen</Badge>}
      lead={<AccountId id={id} />}
      actions={account && <AccountActions account={account} onChanged={query.reload} />}
    >
      <Answer query={query}>{(shown) => <Shown account={shown as Account} onChanged={query.reload} />}</Answer>
    </Page>
  );
}

function Shown({ account, onChanged }: { readonly account: Account; readonly onChanged: () => void }) {
  return (
    <>
      {account.frozen && (
        <p class="notice bad">
          Nothing new runs for this account.{" "}
          {account.frozenReason !== "" && (
            <>
              Reason: <Name text={account.frozenReason} />
            </>
          )}
        </p>
      )}
      <Spending accountId={account.id} />
      <Tabs name="Parts of the account" tabs={tabs} chosen={tabOf(tabs)} />
      <Part account={account} onChanged={onChanged} />
    </>
  );
}

function Part({ account, onChanged }: { readonly account: Account; readonly onChanged: () => void }) {
  switch (tabOf(tabs)?.value) {
    case "keys":
      return <Keys accountId={account.id} />;
    case "payments":
      return <Money account={account} onChanged={onChanged} />;
    case "receipts":
      return <Receipts accountId={account.id} />;
    case "people":
      return <People accountId={account.id} />;
    default:
      return (
        <>
          <div class="stack">
            <Balance account={account} />
            <Limits account={account} />
          </div>
          <Lots account={account} />
        </>
      );
  }
}

function AccountId({ id }: { readonly id: string }) {
  return (
    <span class="with-copy">
      <code class="wrap-anywhere">{id}</code>
      <CopyButton text={id} what="the account's id" />
    </span>
  );
}
