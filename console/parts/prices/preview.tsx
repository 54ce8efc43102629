import { accounts } from "../../contract/clients.ts";
import { Answer } from "../calls/answer.tsx";
import { useQuery } from "../calls/use-query.ts";
import { PriceTable } from "./price-table.tsx";
import type { Terms } from "./terms.ts";

interface Props {
  readonly accountId: string;
  readonly terms: Terms;
}

/** What the account's next payment would lock in by own prices that are not set. */
export function Preview({ accountId, terms }: Props) {
  const { discountBasisPoints, fixed } = terms;
  const proposed = [
    discountBasisPoints,
    ...fixed.map((one) => `${one.model}=${one.inputPicoUsdPerToken}/${one.outputPicoUsdPerToken}`),
  ].join(" ");
  const query = useQuery(
    (signal) => accounts.getAccountPrices({ accountId, proposed: terms }, { signal }),
    [accountId, proposed],
  );
  return (
    <>
      <p class="small">
        What a million tokens cost with the next payment, until it is spent; below it the general price where that
        differs:
      </p>
      <Answer query={query}>
        {({ prices }) => <PriceTable caption="What the next payment locks in" prices={prices} terms={terms} />}
      </Answer>
      <p class="hint">Payments and a credit line lock it in from now on. Money that came in before keeps its prices.</p>
    </>
  );
}
