import { useState } from "preact/hooks";
import { type AutoTopUp, AutoTopUpState } from "#gen/tollgate/payments/v1/auto_top_up_pb.js";
import { formatUsd, parseUsd } from "../../../lib/money/money.ts";
import { payments } from "../../contract/clients.ts";
import { ActionForm } from "../forms/action-form.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { Field } from "../forms/field.tsx";

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
    const amountPicoUsd = read(amount, "The amount");
    if (amountPicoUsd === 0n) {
      throw new Error("The amount has to be above 0.");
    }
    await payments.setAutoTopUp({
      accountId: before.accountId,
      belowPicoUsd: read(below, "The bound of the balance"),
      amountPicoUsd,
      monthlyPicoUsd: read(monthly, "The most a month"),
    });
    onDone();
  };
  return (
    <Dialog title="Auto top-up" onClose={onClose}>
      <ActionForm verb="Save" send={send} onCancel={onClose}>
        <p class="muted">It charges the card that you let the provider save when you paid.</p>
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

function read(text: string, name: string): bigint {
  const pico = parseUsd(text.trim());
  if (pico === undefined) {
    throw new Error(`${name} has to be USD, such as 25 or 19.90.`);
  }
  return pico;
}
