import type { Account } from "#gen/tollgate/accounts/v1/account_pb.js";
import { Amount, mostDecimals } from "../../../parts/figures/amount.tsx";
import { Badge } from "../../../parts/figures/badge.tsx";
import { Clip } from "../../../parts/figures/clip.tsx";
import { type Column, Table } from "../../../parts/figures/table.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import type { Row } from "./find-accounts.ts";

interface Props {
  readonly rows: readonly Row[];
  readonly order: string;
}

/** Accounts with their money, and what they are ordered by. */
export function AccountTable({ rows, order }: Props) {
  const decimals = {
    balance: mostDecimals(rows.map(({ account }) => account.balancePicoUsd)),
    paid: mostDecimals(rows.map(({ account }) => account.paidTotalPicoUsd)),
    spent: mostDecimals(rows.map(({ spent = 0n }) => spent)),
  };
  const byOrder: Readonly<Record<string, Column<Row>>> = {
    spent: {
      name: "Spent in 30 days",
      isNumber: true,
      show: ({ spent }) => spent !== undefined && <Amount pico={spent} decimals={decimals.spent} />,
    },
    "last-use": { name: "Last used", isNumber: true, show: ({ account }) => <Time at={account.lastUsedAt} /> },
  };
  const ordered = byOrder[order];
  return (
    <Table
      caption="Accounts"
      rows={rows}
      keyOf={({ account }) => account.id}
      columns={[
        {
          name: "Account",
          isHeader: true,
          show: ({ account }) => (
            <a href={`/accounts/${account.id}`}>
              <Clip text={account.name || account.id} />
            </a>
          ),
        },
        ...(ordered === undefined ? [] : [ordered]),
        {
          name: "Balance",
          isNumber: true,
          show: ({ account }) => <Amount pico={account.balancePicoUsd} name="balance" decimals={decimals.balance} />,
        },
        { name: "State", show: ({ account }) => <State account={account} /> },
        {
          name: "Total paid",
          isNumber: true,
          isOptional: true,
          show: ({ account }) => <Amount pico={account.paidTotalPicoUsd} name="paid" decimals={decimals.paid} />,
        },
        { name: "Created", isNumber: true, isOptional: true, show: ({ account }) => <Time at={account.createdAt} /> },
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
    return account.creditLeftPicoUsd > 0n ? <Badge>Credit line</Badge> : <Badge tone="warn">Empty</Badge>;
  }
  return account.freeOnly ? <Badge>Free tier</Badge> : <Badge tone="good">Paid</Badge>;
}
