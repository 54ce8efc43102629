import { useState } from "preact/hooks";
import type { DeadLetter } from "#gen/tollgate/metering/v1/dead_letter_pb.js";
import { say } from "../../../app/said.tsx";
import { books } from "../../../contract/clients.ts";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Dialog } from "../../../parts/forms/dialog.tsx";

interface Props {
  readonly letter: DeadLetter;
  readonly onChanged: () => void;
}

/** Settles or drops a dead letter, after a second question. */
export function LetterActions({ letter, onChanged }: Props) {
  const [open, setOpen] = useState<"settle" | "drop" | undefined>(undefined);
  const close = () => setOpen(undefined);
  const send = async (): Promise<void> => {
    const which = { deadLetterId: letter.id };
    await (open === "drop" ? books.dropDeadLetter(which) : books.settleDeadLetter(which));
    close();
    onChanged();
    say(open === "drop" ? "The charge is dropped." : "The charge is made.");
  };
  return (
    <div class="actions">
      <button type="button" class="small-button" onClick={() => setOpen("settle")}>
        Charge
      </button>
      <button type="button" class="small-button" onClick={() => setOpen("drop")}>
        Drop
      </button>
      {open === "settle" && (
        <Dialog title="Charge it after all" onClose={close}>
          <ActionForm verb="Charge" send={send} onCancel={close}>
            <p>What the account has left pays the noted tokens; the rest becomes its debt.</p>
          </ActionForm>
        </Dialog>
      )}
      {open === "drop" && (
        <Dialog title="Drop the charge" onClose={close}>
          <ActionForm verb="Drop" send={send} onCancel={close} isGrave>
            <p>The request will never be charged. That cannot be undone.</p>
          </ActionForm>
        </Dialog>
      )}
    </div>
  );
}
