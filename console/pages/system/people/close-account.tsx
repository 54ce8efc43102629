import { useState } from "preact/hooks";
import { type Account, LotKind } from "#gen/tollgate/accounts/v1/account_pb.js";
import { formatUsd } from "../../../../lib/money/money.ts";
import { signOut } from "../../../app/session.ts";
import { accounts } from "../../../contract/clients.ts";
import { useRequestId } from "../../../contract/request-id.ts";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Dialog } from "../../../parts/forms/dialog.tsx";

/** Asks for confirmation, closes the account, and leaves. After a failure it says what is done and what is left. */
export function CloseAccount({ onClose }: { readonly onClose: () => void }) {
  const requestId = useRequestId();
  const [left, setLeft] = useState<Account | undefined>(undefined);
  const send = async (): Promise<void> => {
    try {
      const { refundedPicoUsd } = await accounts.closeAccount({ requestId });
      const back = refundedPicoUsd > 0n ? ` ${formatUsd(refundedPicoUsd)} USD go back to where they came from.` : "";
      await signOut(`The account is closed.${back}`);
    } catch (error) {
      setLeft((await accounts.getAccount({}).catch(() => undefined))?.account);
      throw error;
    }
  };
  return (
    <Dialog title="Close the account" onClose={onClose}>
      <ActionForm verb={left ? "Go on" : "Close the account"} send={send} onCancel={onClose} isGrave>
        {left ? (
          <Left account={left} />
        ) : (
          <p>
            What was paid and not spent goes back. Every key ends, and everybody in the account loses it, you too. It
            does not open again; its books stay.
          </p>
        )}
      </ActionForm>
    </Dialog>
  );
}

/** How far closing has come. Money goes first, so that a failure leaves somebody who can go on. */
function Left({ account: { frozen, lots } }: { readonly account: Account }) {
  if (!frozen) {
    return <p>The account is as it was: nothing has been closed yet.</p>;
  }
  const paid = lots.filter(({ kind }) => kind === LotKind.PAID).reduce((sum, lot) => sum + lot.remainingPicoUsd, 0n);
  return (
    <>
      <p>Done: no request runs in the account any more.</p>
      <p>
        Left to do: {paid > 0n ? `${formatUsd(paid)} USD that were paid have to go back; then ` : ""}its keys end and
        its people lose it. Go on in a moment. Nothing goes back twice.
      </p>
    </>
  );
}
