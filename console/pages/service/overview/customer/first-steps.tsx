import { useState } from "preact/hooks";
import type { Account } from "#gen/tollgate/accounts/v1/account_pb.js";
import { isMember, mayPay } from "../../../../app/session.ts";
import { metering, payments } from "../../../../contract/clients.ts";
import { useQuery } from "../../../../parts/calls/use-query.ts";
import { Badge } from "../../../../parts/figures/badge.tsx";
import { FirstKey, NewKey } from "./first-key.tsx";

const refreshMs = 3000;

/** The first steps, and the key that is made in them, which stays while they go. */
export function FirstSteps({ account }: { readonly account: Account }) {
  const [secret, setSecret] = useState("");
  const [isShown, setShown] = useState(false);
  const show = (made: string): void => {
    setSecret(made);
    setShown(true);
  };
  return (
    <>
      <Steps account={account} secret={isShown ? "" : secret} onMade={show} />
      {isShown && <NewKey secret={secret} onClose={() => setShown(false)} />}
    </>
  );
}

interface Props {
  readonly account: Account;
  /** Of the key that was made. Empty: none was made yet, or it is shown at the moment. */
  readonly secret: string;
  readonly onMade: (secret: string) => void;
}

/** The way of a new member: a key, a request, its receipt, and credit, which comes first without free money. Gone once it has been walked. */
function Steps({ account, secret, onMade }: Props) {
  const { data: receipt } = useQuery(
    async (signal) => (await metering.listReceipts({ pageSize: 1 }, { signal })).receipts[0] ?? null,
    [],
    refreshMs,
  );
  const { data: options } = useQuery((signal) => payments.getPaymentOptions({}, { signal }), []);
  const hasPaid = account.paidTotalPicoUsd > 0n || options?.available === false;
  if (!isMember.value || receipt === undefined || options === undefined || (receipt !== null && hasPaid)) {
    return null;
  }
  const hasMoney = account.balancePicoUsd > 0n || account.creditLeftPicoUsd > 0n;
  const isFirst = receipt === null && hasMoney;
  const credit = !hasPaid && <Credit isNext={!isFirst} hasMoney={hasMoney} />;
  return (
    <section class="section" aria-label="First steps">
      <ol class="steps">
        {!hasMoney && credit}
        {receipt === null && <FirstKey secret={secret} onMade={onMade} />}
        <li class="card">
          <h2>The first receipt</h2>
          {receipt === null ? (
            <p class="muted">It is here as soon as the request is answered: what it cost, to the last digit.</p>
          ) : (
            <p>
              <Badge tone="good">Done</Badge> <a href={`/receipts/${receipt.requestId}`}>See what the request cost</a>
            </p>
          )}
        </li>
        {hasMoney && credit}
      </ol>
    </section>
  );
}

/** The way to credit. It comes first where there is no money: a request would be refused. */
function Credit({ isNext, hasMoney }: { readonly isNext: boolean; readonly hasMoney: boolean }) {
  return (
    <li class="card">
      <h2>Credit</h2>
      <p class="muted">
        {!hasMoney && "Requests need it. "}
        {mayPay.value ? "See what it costs before you pay." : "An owner of the account buys it."}
      </p>
      {mayPay.value && (
        <p>
          <a class={isNext ? "button primary" : "button"} href="/money">
            Buy credit
          </a>
        </p>
      )}
    </li>
  );
}
