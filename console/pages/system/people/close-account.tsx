import { formatUsd } from "../../../../lib/money/money.ts";
import { signOut } from "../../../app/session.ts";
import { accounts } from "../../../contract/clients.ts";
import { useRequestId } from "../../../contract/request-id.ts";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Dialog } from "../../../parts/forms/dialog.tsx";

/** Asks for confirmation, closes the account, and leaves. */
export function CloseAccount({ onClose }: { readonly onClose: () => void }) {
  const requestId = useRequestId();
  const send = async (): Promise<void> => {
    const { refundedPicoUsd } = await accounts.closeAccount({ requestId });
    const back = refundedPicoUsd > 0n ? ` ${formatUsd(refundedPicoUsd)} USD go back to where they came from.` : "";
    await signOut(`The account is closed.${back}`);
  };
  return (
    <Dialog title="Close the account" onClose={onClose}>
      <ActionForm verb="Close the account" send={send} onCancel={onClose} isGrave>
        <p>
          What was paid and not spent goes back. Every key ends, and everybody in the account loses it, you too. It does
          not open again; its books stay.
        </p>
      </ActionForm>
    </Dialog>
  );
}
