import type { ReconcileResponse } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { Amount, mostDecimals } from "../../parts/figures/amount.tsx";

interface Props {
  /** Absent: nothing was proven since the page was opened. */
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
const terms: readonly { readonly sign: string; readonly name: string; readonly field: Field }[] = [
  { sign: "", name: "Paid in and given", field: "grantedPicoUsd" },
  { sign: "=", name: "Unspent", field: "balancePicoUsd" },
  { sign: "+", name: "Spent", field: "spentPicoUsd" },
  { sign: "+", name: "Paid back", field: "refundedPicoUsd" },
  { sign: "+", name: "Lapsed", field: "expiredPicoUsd" },
  { sign: "−", name: "Owed", field: "debtPicoUsd" },
];

/** The equation with its numbers. */
export function Equation({ answer }: Props) {
  const amount = (field: Field) => BigInt(answer?.[field] || "0");
  const decimals = mostDecimals(terms.map(({ field }) => amount(field)));
  return (
    <dl class="equation card">
      {terms.map(({ sign, name, field }) => (
        <div key={field} class="term">
          <span class="sign" aria-hidden="true">
            {sign}
          </span>
          <dt>{name}</dt>
          <dd>
            {answer === undefined ? <span class="muted">–</span> : <Amount pico={amount(field)} decimals={decimals} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}
