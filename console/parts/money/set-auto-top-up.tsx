import { useState } from "preact/hooks";
import { type AutoTopUp, AutoTopUpState } from "#gen/tollgate/payments/v1/auto_top_up_pb.js";
import { formatUsd } from "../../../lib/money/money.ts";
import { payments } from "../../contract/clients.ts";
import { ActionForm } from "../forms/action-form.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { Field } from "../forms/field.tsx";
import { requireUsd } from "../forms/typed.ts";

/** A sum of many charges, in pico-USD: the largest int64. */
const mostMonthly = 2n ** 63n - 1n;

interface Props {
  readonly before: AutoTopUp;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Sets when the saved card is charged by itself. */
export function SetAutoTopUp({ before, onClose, onDone }: Props) {
  const isNew = before.state === AutoTopUpState.OFF && before.amountPicoUsd === 0n;
  const [below, setBelow] = useState(isNew ? "5" : formatUsd(before.belowPicoUsd));
  const [amount, setAmount] = useState(isNew ? "25" : formatUsd(before.amountPicoUsd));
  const [monthly, setMonthly] = useState(isNew ? "100" : formatUsd(before.monthlyPicoUsd));
  const send = async (): Promise<void> => {
    await payments.setAutoTopUp({
      accountId: before.accountId,
      belowPicoUsd: requireUsd(below, "The bound of the balance"),
      amountPicoUsd: requireUsd(amount, "The amount"),
      monthlyPicoUsd: requireUsd(monthly, "The most a month", mostMonthly),
    });
    onDone();
  };
  return (
    <Dialog title="Auto top-up" onClose={onClose}>
      <ActionForm verb="Save" send={send} onCancel={onClose}>
        <p class="muted">
          It charges the card that you let the provider save when you paid. Save one first: without a card nothing is
          charged, and three tries turn auto top-up off.
        </p>
        <Field
          label="When the balance is below"
          name="below"
          value={below}
          onInput={setBelow}
          unit="$"
          isNumber
          hasFocus
        />
        <Field label="Charge" name="amount" value={amount} onInput={setAmount} unit="$" isNumber />
        <Field
          label="At most a month"
          name="monthly"
          value={monthly}
          onInput={setMonthly}
          unit="$"
          isNumber
          hint="Calendar months, in UTC."
        />
      </ActionForm>
    </Dialog>
  );
}
