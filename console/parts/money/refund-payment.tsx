import { useState } from "preact/hooks";
import type { Payment } from "#gen/tollgate/accounts/v1/account_pb.js";
import { type PaymentRefund, RefundState } from "#gen/tollgate/payments/v1/refund_payment_pb.js";
import { formatUsd } from "../../../lib/money/money.ts";
import { payments } from "../../contract/clients.ts";
import { useRequestId } from "../../contract/request-id.ts";
import { ActionForm } from "../forms/action-form.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { Field } from "../forms/field.tsx";
import { readUsd } from "../forms/typed.ts";

interface Props {
  readonly accountId: string;
  readonly payment: Payment;
  readonly onClose: () => void;
  readonly onRefunded: () => void;
}

/** Pays unspent money of a payment back through the provider, and says how far that has come. */
export function RefundPayment({ accountId, payment, onClose, onRefunded }: Props) {
  const [amount, setAmount] = useState("");
  const [refunds, setRefunds] = useState<readonly PaymentRefund[] | undefined>(undefined);
  const requestId = useRequestId();
  const send = async (): Promise<void> => {
    const amountPicoUsd = readUsd(amount, "The amount") ?? 0n;
    const request = { accountId, reference: payment.reference, amountPicoUsd };
    setRefunds((await payments.refundPayment({ ...request, requestId: `${requestId}-${amountPicoUsd}` })).refunds);
    onRefunded();
  };
  return (
    <Dialog title="Refund" onClose={onClose}>
      {refunds === undefined ? (
        <ActionForm verb="Refund" send={send} onCancel={onClose}>
          <p class="muted">Unspent money goes back to the card that it came from, with the taxes on it.</p>
          <Field
            label="Amount"
            name="amount"
            value={amount}
            onInput={setAmount}
            unit="$"
            isNumber
            hasFocus
            isRequired={false}
            placeholder="all that is left"
            hint={`Of ${formatUsd(payment.amountPicoUsd)} USD that came in, at most what is not spent. Empty: all of that.`}
          />
        </ActionForm>
      ) : (
        <div class="stack">
          <div class="stack" role="status">
            {refunds.map((refund) => (
              <p key={refund.id}>{describe(refund)}</p>
            ))}
          </div>
          <div class="form-foot">
            <button type="button" class="primary" onClick={onClose}>
              Done
            </button>
          </div>
        </div>
      )}
    </Dialog>
  );
}

function describe({ amountPicoUsd, state, problem }: PaymentRefund): string {
  const sum = `${formatUsd(amountPicoUsd)} USD`;
  switch (state) {
    case RefundState.DONE:
      return `${sum} go back to the card.`;
    case RefundState.FAILED:
      return `${sum} could not be paid back: ${problem}`;
    default:
      return `${sum} have left the account; the provider has not confirmed it yet, and is asked again.`;
  }
}
