import type { ReconcileResponse } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { Amount, mostDecimals } from "../../parts/figures/amount.tsx";

interface Props {
  /** Absent: no proof was made since the page was opened. */
  readonly answer: ReconcileResponse | undefined;
}

type Field =
  | "grantedPicoUsd"
  | "balancePicoUsd"
  | "spentPicoUsd"
  | "refundedPicoUsd"
  | "expiredPicoUsd"
  | "debtPicoUsd";

/** The terms, in the order of the equation. */
const terms: readonly {
  readonly sign: string;
  readonly name: string;
  readonly field: Field;
  /** The page that lists the addends. */
  readonly path: string;
}[] = [
  { sign: "", name: "Paid in and granted", field: "grantedPicoUsd", path: "/books?sum=granted" },
  { sign: "=", name: "Unspent", field: "balancePicoUsd", path: "/accounts" },
  { sign: "+", name: "Spent", field: "spentPicoUsd", path: "/usage?by=account&period=quarter" },
  { sign: "+", name: "Refunded", field: "refundedPicoUsd", path: "/books?sum=refunded" },
  { sign: "+", name: "Expired", field: "expiredPicoUsd", path: "/books?sum=expired" },
  { sign: "−", name: "Owed by accounts", field: "debtPicoUsd", path: "/books?sum=owed" },
];

/** The equation with its numbers. */
export function Equation({ answer }: Props) {
  const amount = (field: Field) => BigInt(answer?.[field] || "0");
  const decimals = mostDecimals(terms.map(({ field }) => amount(field)));
  return (
    <div class="card">
      <dl class="equation">
        {terms.map(({ sign, name, field, path }) => (
          <div key={field} class="term">
            <span class="sign" aria-hidden="true">
              {sign}
            </span>
            <dt>
              <a href={path}>{name}</a>
            </dt>
            <dd>
              {answer === undefined ? (
                <span class="muted">–</span>
              ) : (
                <Amount pico={amount(field)} decimals={decimals} />
              )}
            </dd>
          </div>
        ))}
      </dl>
      {answer === undefined && <p class="below-table">A proof fills in the sums; each opens what it adds up.</p>}
    </div>
  );
}
