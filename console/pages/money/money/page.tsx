import type { Account } from "#gen/tollgate/accounts/v1/account_pb.js";
import { accounts } from "../../../contract/clients.ts";
import { Balance } from "../../../parts/account/balance.tsx";
import { Answer } from "../../../parts/calls/answer.tsx";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { Page } from "../../../parts/frame/page.tsx";
import { Money } from "../../../parts/money/money.tsx";

const refreshMs = 5000;

/** A customer's money: what is there, how more comes, and how it goes back. */
export default function MoneyPage() {
  const query = useQuery(async (signal) => (await accounts.getAccount({}, { signal })).account, [], refreshMs);
  return (
    <Page title="Money" lead="What is there, what came in, and how to get more.">
      <Answer query={query}>
        {(account) => (
          <>
            <Balance account={account as Account} />
            <Money account={account as Account} onChanged={query.reload} />
          </>
        )}
      </Answer>
    </Page>
  );
}
