import { useState } from "preact/hooks";
import type { GetAccountPricesResponse } from "#gen/tollgate/accounts/v1/own_prices_pb.js";
import { isCustomer, mayBill } from "../../app/session.ts";
import { accounts } from "../../contract/clients.ts";
import { Answer } from "../calls/answer.tsx";
import { useQuery } from "../calls/use-query.ts";
import { Time } from "../figures/time.tsx";
import { Section } from "../frame/page.tsx";
import { PriceTable } from "./price-table.tsx";
import { EndOwnPrices, SetOwnPrices } from "./set-own-prices.tsx";
import { areGeneral, describeTerms, general } from "./terms.ts";

interface Props {
  readonly accountId: string;
  /** Called after own prices were set or ended. */
  readonly onChanged: () => void;
}

/** An account's own prices. Operators set and end them; customers, who cannot, are shown none where there are none. */
export function OwnPrices({ accountId, onChanged }: Props) {
  const [open, setOpen] = useState<"set" | "end" | undefined>(undefined);
  const query = useQuery((signal) => accounts.getAccountPrices({ accountId }, { signal }), [accountId]);
  const { prices = [], ownPrices: terms = general } = query.data ?? {};
  if (isCustomer.value && areGeneral(terms)) {
    return null;
  }
  const close = () => setOpen(undefined);
  const done = () => {
    close();
    query.reload();
    onChanged();
  };
  const actions = mayBill.value && query.data !== undefined && (
    <>
      {!areGeneral(terms) && (
        <button type="button" onClick={() => setOpen("end")}>
          General prices
        </button>
      )}
      <button type="button" onClick={() => setOpen("set")}>
        Own prices
      </button>
    </>
  );
  return (
    <Section title="Own prices" actions={actions}>
      <Answer query={query}>{(found) => <Shown found={found} />}</Answer>
      {open === "set" && (
        <SetOwnPrices accountId={accountId} terms={terms} prices={prices} onClose={close} onDone={done} />
      )}
      {open === "end" && <EndOwnPrices accountId={accountId} onClose={close} onDone={done} />}
    </Section>
  );
}

function Shown({ found }: { readonly found: GetAccountPricesResponse }) {
  const { prices, ownPrices: terms = general, number, setAt } = found;
  if (areGeneral(terms)) {
    return <p class="muted">None: payments lock in the general prices.</p>;
  }
  return (
    <div class="stack">
      <p>
        Own prices {number}, set <Time at={setAt} />: {describeTerms(terms)}.{" "}
        <span class="muted">
          Payments keep them for as long as their credit lasts; money that came in before keeps its prices. Below each
          price is the general one where that differs.
        </span>
      </p>
      <PriceTable caption="Own prices, for a million tokens" prices={prices} terms={terms} />
    </div>
  );
}
