import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { Amount, mostDecimals } from "../../../parts/figures/amount.tsx";
import { Time } from "../../../parts/figures/time.tsx";

/** The terms of the equation, in pico-USD. */
export type Sums = Readonly<Record<Field, bigint>>;

type Field = "granted" | "balance" | "spent" | "refunded" | "expired" | "debt";

interface Props {
  /** Absent: the books were never proved. */
  readonly sums: Sums | undefined;
  /** When a past proof has made them. Absent: they are of the proof that was made here. */
  readonly at?: Timestamp | undefined;
}

/** The terms, in the order of the equation. */
const terms: readonly {
  readonly sign: string;
  readonly name: string;
  readonly field: Field;
  /** The page that lists the addends. */
  readonly path: string;
}[] = [
  { sign: "", name: "Paid in and granted", field: "granted", path: "/books?sum=granted" },
  { sign: "=", name: "Unspent", field: "balance", path: "/accounts" },
  { sign: "+", name: "Spent", field: "spent", path: "/usage?by=account&period=quarter" },
  { sign: "+", name: "Refunded", field: "refunded", path: "/books?sum=refunded" },
  { sign: "+", name: "Expired", field: "expired", path: "/books?sum=expired" },
  { sign: "−", name: "Owed by accounts", field: "debt", path: "/books?sum=owed" },
];

/** The equation with its numbers. */
export function Equation({ sums, at }: Props) {
  const decimals = mostDecimals(Object.values(sums ?? {}));
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
              {sums === undefined ? <span class="muted">–</span> : <Amount pico={sums[field]} decimals={decimals} />}
            </dd>
          </div>
        ))}
      </dl>
      {sums === undefined && <p class="below-table">A proof fills in the sums; each opens what it adds up.</p>}
      {at !== undefined && (
        <p class="below-table">
          Of the proof of <Time at={at} />.
        </p>
      )}
    </div>
  );
}
