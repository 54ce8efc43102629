import { type Account, type Lot, LotKind } from "#gen/tollgate/accounts/v1/account_pb.js";
import { Empty } from "../calls/answer.tsx";
import { Amount, mostDecimals } from "../figures/amount.tsx";
import { Badge } from "../figures/badge.tsx";
import { Id } from "../figures/copy.tsx";
import { Meter } from "../figures/figure.tsx";
import { Table } from "../figures/table.tsx";
import { Time } from "../figures/time.tsx";
import { Section } from "../frame/page.tsx";
import { formatDiscount } from "../prices/terms.ts";

const kinds: Readonly<Record<LotKind, string>> = {
  [LotKind.UNSPECIFIED]: "Unknown",
  [LotKind.FREE]: "Free tier",
  [LotKind.GRANT]: "Grant",
  [LotKind.PAID]: "Payment",
  [LotKind.CREDIT]: "Credit line",
};
const perMille = 1000n;

/** The lots that make up the balance, in spending order. */
export function Lots({ account }: { readonly account: Account }) {
  const lots = account.lots.filter(({ kind }) => kind !== LotKind.CREDIT); // the credit line is no part of a balance
  const granted = lots.map((lot) => lot.grantedPicoUsd);
  const remaining = lots.map((lot) => lot.remainingPicoUsd);
  const decimals = {
    granted: mostDecimals([...granted, sum(granted)]),
    remaining: mostDecimals([...remaining, sum(remaining)]),
  };
  return (
    <Section title="Credits, spent from the first to the last">
      {lots.length === 0 ? (
        <Empty title="There is no money left">
          A top-up or a grant adds a credit, which keeps the prices of the day on which it came in.
          {account.creditLeftPicoUsd > 0n && " Until then requests draw the credit line."}
        </Empty>
      ) : (
        <Table
          caption="Credits, spent from the first to the last"
          rows={lots}
          keyOf={(lot) => lot.id}
          columns={[
            { name: "From", isHeader: true, show: (lot) => <From lot={lot} /> },
            {
              name: "Remaining",
              isNumber: true,
              show: (lot) => <Amount pico={lot.remainingPicoUsd} name="remaining" decimals={decimals.remaining} />,
            },
            {
              name: "Granted",
              isNumber: true,
              show: (lot) => <Amount pico={lot.grantedPicoUsd} name="granted" decimals={decimals.granted} />,
            },
            { name: "Left", isOptional: true, show: (lot) => <Meter part={partLeft(lot)} isLevel /> },
            { name: "Came in", isNumber: true, isOptional: true, show: (lot) => <Time at={lot.createdAt} /> },
            { name: "Expires", isNumber: true, isOptional: true, show: (lot) => <Lapse lot={lot} /> },
            { name: "Id", isOptional: true, show: (lot) => <Id id={lot.id} /> },
          ]}
          foot={[
            "Balance",
            <Amount key="remaining" pico={sum(remaining)} name="total" decimals={decimals.remaining} />,
            <Amount key="granted" pico={sum(granted)} decimals={decimals.granted} />,
          ]}
        />
      )}
      {sum(remaining) !== account.balancePicoUsd && lots.length > 0 && (
        <p class="below-table">The account has more credits than the {lots.length} that are shown.</p>
      )}
    </Section>
  );
}

/** Where a credit came from, and the account's own prices that it keeps. */
function From({ lot: { kind, ownPrices, discountBasisPoints } }: { readonly lot: Lot }) {
  if (ownPrices === 0) {
    return kinds[kind];
  }
  return (
    <div class="two-lines">
      <span>{kinds[kind]}</span>
      <span class="muted small">
        own prices {ownPrices}
        {discountBasisPoints > 0 && `, ${formatDiscount(discountBasisPoints)}`}
      </span>
    </div>
  );
}

function Lapse({ lot }: { readonly lot: Lot }) {
  return lot.expiresAt === undefined ? (
    <span class="muted">never</span>
  ) : (
    <Badge>
      <Time at={lot.expiresAt} />
    </Badge>
  );
}

function partLeft({ remainingPicoUsd, grantedPicoUsd }: Lot): number {
  return grantedPicoUsd === 0n ? 0 : Number((remainingPicoUsd * perMille) / grantedPicoUsd) / Number(perMille);
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((all, one) => all + one, 0n);
}
