import { useState } from "preact/hooks";
import type { Account } from "#gen/tollgate/accounts/v1/account_pb.js";
import { formatUsd } from "../../../../lib/money/money.ts";
import { say } from "../../../app/said.tsx";
import { accounts } from "../../../contract/clients.ts";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Dialog } from "../../../parts/forms/dialog.tsx";
import { Field } from "../../../parts/forms/field.tsx";
import { readUsd } from "../../../parts/forms/typed.ts";

interface Props {
  readonly account: Account;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Chooses from when on the balance counts as low, and where mail of the account goes beside its people. */
export function LowBalance({ account, onClose, onDone }: Props) {
  const { lowBalancePicoUsd: before } = account;
  const [low, setLow] = useState(before === undefined ? "" : formatUsd(before));
  const [email, setEmail] = useState(account.email);
  const send = async (): Promise<void> => {
    const lowBalancePicoUsd = readUsd(low, "The low balance");
    await accounts.updateAccount({
      ...(lowBalancePicoUsd === undefined ? {} : { lowBalancePicoUsd }),
      email: email.trim(),
      updateMask: { paths: ["low_balance_pico_usd", "email"] },
    });
    onDone();
    say("The account is saved.");
  };
  return (
    <Dialog title="Low balance" onClose={onClose}>
      <ActionForm verb="Save" send={send} onCancel={onClose}>
        <Field
          label="Low below"
          name="low-balance"
          value={low}
          onInput={setLow}
          unit="$"
          isNumber
          hasFocus
          isRequired={false}
          placeholder="by its last top-up"
          hint="Whoever gets mail about a low balance is told once it is below."
        />
        <Field
          label="E-mail of the account"
          name="email"
          value={email}
          onInput={setEmail}
          isRequired={false}
          placeholder="none"
          hint="Where mail of the account goes, beside the people who choose it."
        />
      </ActionForm>
    </Dialog>
  );
}
