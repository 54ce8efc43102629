import { useState } from "preact/hooks";
import type { GetPaymentOptionsResponse } from "#gen/tollgate/payments/v1/payment_options_pb.js";
import { leaveFor } from "../../app/router.ts";
import { mayPay } from "../../app/session.ts";
import { payments } from "../../contract/clients.ts";
import { useRequestId } from "../../contract/request-id.ts";
import { Amount } from "../figures/amount.tsx";
import { ActionForm } from "../forms/action-form.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { Field } from "../forms/field.tsx";
import { requireUsd } from "../forms/typed.ts";
import { Section } from "../frame/page.tsx";
import { PriceLock } from "./price-lock.tsx";
import { returnUrl } from "./return-url.ts";

interface Props {
  readonly accountId: string;
  readonly options: GetPaymentOptionsResponse;
}

/** What credit costs, and the way to the provider's page. */
export function BuyCredit({ accountId, options }: Props) {
  const [isBuying, setBuying] = useState(false);
  return (
    <Section
      title="Credit"
      actions={
        mayPay.value && (
          <button type="button" class="primary" onClick={() => setBuying(true)}>
            Buy credit
          </button>
        )
      }
    >
      <p class="muted">
        Credit keeps the prices of the moment in which it comes in, for as long as it lasts.
        {!mayPay.value && " An owner of the account can buy it."}
      </p>
      {isBuying && <Buying accountId={accountId} options={options} onClose={() => setBuying(false)} />}
    </Section>
  );
}

function Buying({ accountId, options, onClose }: Props & { readonly onClose: () => void }) {
  const [amount, setAmount] = useState("25");
  const requestId = useRequestId();
  const send = async (): Promise<void> => {
    const amountPicoUsd = requireUsd(amount, "The amount");
    const { url } = await payments.createCheckout({
      accountId,
      amountPicoUsd,
      // Another amount is another checkout: the first may have been opened by an answer that was lost.
      requestId: `${requestId}-${amountPicoUsd}`,
      returnUrl: returnUrl(),
    });
    leaveFor(url);
  };
  return (
    <Dialog title="Buy credit" onClose={onClose}>
      <ActionForm verb="Continue to payment" send={send} onCancel={onClose}>
        <Field
          label="Amount"
          name="amount"
          value={amount}
          onInput={setAmount}
          unit="$"
          isNumber
          hasFocus
          hint={
            <>
              From <Amount pico={options.minimumPicoUsd} /> to <Amount pico={options.maximumPicoUsd} />, and at most{" "}
              <Amount pico={options.rolling24hPicoUsd} /> within 24 hours.
            </>
          }
        />
        <PriceLock prices={options.prices} />
      </ActionForm>
    </Dialog>
  );
}
