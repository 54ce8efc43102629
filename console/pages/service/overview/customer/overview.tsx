import type { Account } from "#gen/tollgate/accounts/v1/account_pb.js";
import { accounts } from "../../../../contract/clients.ts";
import { Balance } from "../../../../parts/account/balance.tsx";
import { Lots } from "../../../../parts/account/lots.tsx";
import { Answer } from "../../../../parts/calls/answer.tsx";
import { useQuery } from "../../../../parts/calls/use-query.ts";
import { Page, Section } from "../../../../parts/frame/page.tsx";
import { ReceiptList } from "../../../../parts/receipts/receipt-list.tsx";
import { FirstSteps } from "./first-steps.tsx";

const refreshMs = 5000;

/** A customer's account: its balance, payments and spending. */
export function CustomerOverview() {
  const query = useQuery(async (signal) => (await accounts.getAccount({}, { signal })).account, [], refreshMs);
  return (
    <Page title="Overview" lead="Your account: what is there, and what every request cost.">
      <Answer query={query}>{(account) => <Shown account={account as Account} />}</Answer>
    </Page>
  );
}

function Shown({ account }: { readonly account: Account }) {
  return (
    <>
      {account.frozen && <p class="notice bad">The account is frozen: nothing new runs. {account.frozenReason}</p>}
      <FirstSteps account={account} />
      <Balance account={account} />
      <Lots account={account} />
      <Section title="Receipts">
        <ReceiptList filter={{}} version={account.balancePicoUsd - account.debtPicoUsd} />
      </Section>
    </>
  );
}
