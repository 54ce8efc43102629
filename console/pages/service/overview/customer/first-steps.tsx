import { useState } from "preact/hooks";
import type { Account } from "#gen/tollgate/accounts/v1/account_pb.js";
import { isMember, mayChangeKeys, mayPay } from "../../../../app/session.ts";
import { accounts, metering, payments } from "../../../../contract/clients.ts";
import { useRequestId } from "../../../../contract/request-id.ts";
import { useQuery } from "../../../../parts/calls/use-query.ts";
import { Badge } from "../../../../parts/figures/badge.tsx";
import { Copyable } from "../../../../parts/figures/copy.tsx";
import { ActionButton } from "../../../../parts/forms/action-button.tsx";
import { toCurl } from "../../../../parts/requests/curl.ts";
import { useGenerators } from "../../../../parts/requests/use-generators.ts";

const refreshMs = 3000;

/** The way of a new member: a key, a request, its receipt, and credit, which comes first without free money. Gone once it has been walked. */
export function FirstSteps({ account }: { readonly account: Account }) {
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
        {receipt === null && <FirstKey />}
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

/** Makes a key, and shows it once in a command that sends a request. */
function FirstKey() {
  const [secret, setSecret] = useState("");
  const requestId = useRequestId();
  const { data: models = [] } = useGenerators();
  const [model = ""] = models;
  const make = async (): Promise<void> => {
    setSecret((await accounts.createKey({ name: "first key", requestId })).secret);
  };
  return (
    <li class="card">
      <h2>A key and a request</h2>
      {secret !== "" ? (
        <>
          <p role="status">Run this in a terminal. The key in it is shown this one time: keep it.</p>
          <Copyable text={toCurl(secret, model, "In two sentences: why is the sky blue?")} what="the command" />
        </>
      ) : mayChangeKeys.value ? (
        <p>
          <ActionButton act={make}>Create a key</ActionButton>
        </p>
      ) : (
        <p class="muted">A developer or an owner of the account makes keys.</p>
      )}
    </li>
  );
}
