import type { ComponentChildren } from "preact";
import { type Payment, PaymentKind } from "#gen/tollgate/accounts/v1/account_pb.js";
import { accounts } from "../../contract/clients.ts";
import { countOf } from "../../format/numbers.ts";
import { Answer, Empty } from "../calls/answer.tsx";
import { MoreRows, usePages } from "../calls/more-rows.tsx";
import { Amount, mostDecimals } from "../figures/amount.tsx";
import { Clip } from "../figures/clip.tsx";
import { Table } from "../figures/table.tsx";
import { Time } from "../figures/time.tsx";
import { Section } from "../frame/page.tsx";
import { StatementButton } from "./statement.tsx";

const kinds: Readonly<Record<PaymentKind, string>> = {
  [PaymentKind.UNSPECIFIED]: "Unknown",
  [PaymentKind.TOP_UP]: "Top-up",
  [PaymentKind.GRANT]: "Grant",
  [PaymentKind.REFUND]: "Refund",
};

interface Props {
  readonly accountId: string;
  /** The balance less what is owed. When it changes there may be a new payment, so the list is loaded again. */
  readonly balance: bigint;
  /** The actions on a payment that came by the provider. Undefined: none. */
  readonly act?: ((payment: Payment) => ComponentChildren) | undefined;
}

/** Payments and refunds. */
export function Payments({ accountId, balance, act }: Props) {
  const pages = usePages<Payment>(
    async (pageToken, signal) => {
      const answer = await accounts.listPayments({ accountId, pageToken, pageSize: 20 }, { signal });
      return { rows: answer.payments, next: answer.nextPageToken };
    },
    [accountId],
    balance,
  );
  return (
    <Section title="Payments, grants and refunds" actions={<StatementButton accountId={accountId} />}>
      <Answer query={pages}>
        {(rows) =>
          rows.length === 0 ? <Empty title="No money came in yet" /> : <PaymentTable rows={rows} act={act} />
        }
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "entry", "entries")} />
    </Section>
  );
}

function PaymentTable({ rows, act }: { readonly rows: readonly Payment[] } & Pick<Props, "act">) {
  const decimals = mostDecimals(rows.map((row) => row.amountPicoUsd));
  const actions = {
    name: "Actions",
    isNameHidden: true,
    isNumber: true,
    show: (row: Payment) => (isFromProvider(row) ? act?.(row) : null),
  };
  return (
    <Table
      caption="Payments, grants and refunds"
      rows={rows}
      keyOf={(row) => row.id}
      columns={[
        { name: "Kind", isHeader: true, show: (row) => (isFreeTier(row) ? "Free tier" : kinds[row.kind]) },
        {
          name: "Amount",
          isNumber: true,
          show: (row) => <Amount pico={row.amountPicoUsd} decimals={decimals} />,
        },
        { name: "Reference", show: (row) => <Reference payment={row} /> },
        { name: "Entered", isNumber: true, isOptional: true, show: (row) => <Time at={row.createdAt} /> },
        ...(act === undefined ? [] : [actions]),
      ]}
    />
  );
}

/** Whether a payment is the free tier that each new account gets: the core gives it a reference of its own. */
function isFreeTier({ kind, reference }: Payment): boolean {
  return kind === PaymentKind.GRANT && /^free:[0-9a-f-]{36}$/.test(reference);
}

/** Whether a payment came by the provider, which pays it back: the core enters it under the provider's name of it. */
function isFromProvider({ kind, reference }: Payment): boolean {
  return kind === PaymentKind.TOP_UP && reference.startsWith("pi_");
}

function Reference({ payment }: { readonly payment: Payment }) {
  return isFreeTier(payment) ? (
    <span class="muted" title={payment.reference}>
      given to a new account
    </span>
  ) : (
    <Clip text={payment.reference} />
  );
}
