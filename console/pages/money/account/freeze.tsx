import { useState } from "preact/hooks";
import { say } from "../../../app/said.tsx";
import { accounts } from "../../../contract/clients.ts";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Dialog } from "../../../parts/forms/dialog.tsx";
import { Field } from "../../../parts/forms/field.tsx";

interface Props {
  readonly accountId: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Asks for a reason and freezes the account, which stops everything new. */
export function Freeze({ accountId, onClose, onDone }: Props) {
  const [reason, setReason] = useState("Frozen by the operator.");
  const send = async (): Promise<void> => {
    await accounts.freezeAccount({ accountId, reason: reason.trim() });
    onDone();
    say("The account is frozen.");
  };
  return (
    <Dialog title="Freeze the account" onClose={onClose}>
      <ActionForm verb="Freeze" send={send} onCancel={onClose} isGrave isDisabled={reason.trim() === ""}>
        <p class="muted">
          Nothing new runs, here at once and everywhere within ten seconds. What runs finishes; money comes in and goes
          back as ever.
        </p>
        <Field
          label="Reason"
          name="reason"
          value={reason}
          onInput={setReason}
          maxLength={200}
          hasFocus
          hint="Callers are told this."
        />
      </ActionForm>
    </Dialog>
  );
}
