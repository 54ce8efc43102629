import { useState } from "preact/hooks";
import type { Account } from "#gen/tollgate/accounts/v1/account_pb.js";
import { navigate } from "../../app/router.ts";
import { mayBill } from "../../app/session.ts";
import { accounts } from "../../contract/clients.ts";
import { countOf } from "../../format/numbers.ts";
import { Answer, Empty } from "../../parts/calls/answer.tsx";
import { MoreRows, usePages } from "../../parts/calls/more-rows.tsx";
import { Amount, mostDecimals } from "../../parts/figures/amount.tsx";
import { Badge } from "../../parts/figures/badge.tsx";
import { Table } from "../../parts/figures/table.tsx";
import { Time } from "../../parts/figures/time.tsx";
import { Page } from "../../parts/page.tsx";
import { CreateAccount } from "./create-account.tsx";

/** Everybody who pays. */
export default function AccountsPage() {
  const [isCreating, setCreating] = useState(false);
  const pages = usePages<Account>(async (pageToken, signal) => {
    const answer = await accounts.listAccounts({ pageToken, pageSize: 50 }, { signal });
    return { rows: answer.accounts, next: answer.nextPageToken };
  }, []);
  return (
    <Page
      title="Accounts"
      lead="Everybody who pays, oldest first."
      actions={
        mayBill.value &&
        !isCreating && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            Create account
          </button>
        )
      }
    >
      <Answer query={pages}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="There is no account yet">Create one, then give it a key and money.</Empty>
          ) : (
            <AccountTable rows={rows} />
          )
        }
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "account")} />
      {isCreating && (
        <CreateAccount onClose={() => setCreating(false)} onCreated={(id) => navigate(`/accounts/${id}`)} />
      )}
    </Page>
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
          show: (row) => <a href={`/accounts/${row.id}`}>{row.name || row.id}</a>,
        },
        {
          name: "Balance",
          isNumber: true,
          show: (row) => <Amount pico={row.balancePicoUsd} name="balance" decimals={decimals.balance} />,
        },
        { name: "State", show: (row) => <AccountState account={row} /> },
        {
          name: "Paid in all",
          isNumber: true,
          isOptional: true,
          show: (row) => <Amount pico={row.paidTotalPicoUsd} name="paid" decimals={decimals.paid} />,
        },
        { name: "Created", isNumber: true, isOptional: true, show: (row) => <Time at={row.createdAt} /> },
      ]}
    />
  );
}

function AccountState({ account }: { readonly account: Account }) {
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
