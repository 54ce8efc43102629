import { signOut } from "../../../app/session.ts";
import { people } from "../../../contract/clients.ts";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Dialog } from "../../../parts/forms/dialog.tsx";

/** Asks for confirmation, leaves the account to its other people, and signs out. */
export function LeaveAccount({ onClose }: { readonly onClose: () => void }) {
  const send = async (): Promise<void> => {
    await people.leaveAccount({});
    await signOut("You have left the account.");
  };
  return (
    <Dialog title="Leave the account" onClose={onClose}>
      <ActionForm verb="Leave the account" send={send} onCancel={onClose} isGrave>
        <p>
          Your management keys and open invitations there end; other keys stay with the account. Only a new invitation
          brings you back. Your other accounts stay: sign in again to see them.
        </p>
      </ActionForm>
    </Dialog>
  );
}
