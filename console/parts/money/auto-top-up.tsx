import { useState } from "preact/hooks";
import { type AutoTopUp, AutoTopUpState } from "#gen/tollgate/payments/v1/auto_top_up_pb.js";
import { mayPay } from "../../app/session.ts";
import { payments } from "../../contract/clients.ts";
import { countOf } from "../../format/numbers.ts";
import { Answer } from "../calls/answer.tsx";
import { useQuery } from "../calls/use-query.ts";
import { Amount } from "../figures/amount.tsx";
import { Time } from "../figures/time.tsx";
import { ActionButton } from "../forms/action-button.tsx";
import { Section } from "../frame/page.tsx";
import { SetAutoTopUp } from "./set-auto-top-up.tsx";

const refreshMs = 5000;

/** When the saved card is charged by itself. */
export function AutoTopUpSection({ accountId }: { readonly accountId: string }) {
  const [isSetting, setSetting] = useState(false);
  const query = useQuery(
    async (signal) => (await payments.getAutoTopUp({ accountId }, { signal })).autoTopUp as AutoTopUp,
    [accountId],
    refreshMs,
  );
  const { data: set } = query;
  const turnOff = async (): Promise<void> => {
    await payments.setAutoTopUp({ accountId });
    query.reload();
  };
  const done = () => {
    setSetting(false);
    query.reload();
  };
  return (
    <Section
      title="Auto top-up"
      actions={
        mayPay.value &&
        set && (
          <>
            {set.state === AutoTopUpState.ON && <ActionButton act={turnOff}>Turn off</ActionButton>}
            <button type="button" onClick={() => setSetting(true)}>
              Set auto top-up
            </button>
          </>
        )
      }
    >
      <Answer query={query}>{(setting) => <Setting set={setting} />}</Answer>
      {isSetting && set && <SetAutoTopUp before={set} onClose={() => setSetting(false)} onDone={done} />}
    </Section>
  );
}

function Setting({ set }: { readonly set: AutoTopUp }) {
  switch (set.state) {
    case AutoTopUpState.ON: {
      const isMonthUsedUp = set.chargedPicoUsd + set.amountPicoUsd > set.monthlyPicoUsd;
      return (
        <>
          <p>
            On: below <Amount pico={set.belowPicoUsd} /> the saved card is charged <Amount pico={set.amountPicoUsd} />,
            at most <Amount pico={set.monthlyPicoUsd} /> a month (UTC); <Amount pico={set.chargedPicoUsd} /> in this
            one.
          </p>
          {isMonthUsedUp && (
            <p class="notice warn">
              It is not charged again in this month: another <Amount pico={set.amountPicoUsd} /> would pass what it may
              be charged a month.
            </p>
          )}
          {set.declines === 0 && set.notBefore && !isMonthUsedUp && (
            <p class="notice">
              It is not charged again before <Time at={set.notBefore} />, unless the balance reaches{" "}
              <Amount pico={set.belowPicoUsd} /> until then.
            </p>
          )}
          {set.declines > 0 && (
            <p class="notice warn">
              It was not charged{set.declines > 1 && ` ${countOf(set.declines, "time")} in a row`}: {set.problem} It is
              charged again{" "}
              {set.notBefore ? (
                <>
                  after <Time at={set.notBefore} />
                </>
              ) : (
                "soon"
              )}
              , or once auto top-up is set again; three declines turn it off.
            </p>
          )}
        </>
      );
    }
    case AutoTopUpState.DECLINED:
      return (
        <p class="notice bad">
          Off: three charges in a row were declined. {set.problem} Change the card, or save one at the next payment,
          then set auto top-up again.
        </p>
      );
    default:
      return <p class="muted">Off: the balance is never topped up by itself.</p>;
  }
}
