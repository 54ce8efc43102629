import type { ApiKey } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { say } from "../../app/said.tsx";
import { accounts } from "../../contract/clients.ts";
import { ActionForm } from "../forms/action-form.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { KeyName } from "./key-name.tsx";

interface Props {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Asks for confirmation, and revokes the key. */
export function RevokeKey({ apiKey, onClose, onDone }: Props) {
  const send = async (): Promise<void> => {
    await accounts.revokeKey({ keyId: apiKey.id });
    onDone();
    say("The key is revoked.");
  };
  return (
    <Dialog
      title={
        <>
          Revoke <KeyName apiKey={apiKey} />
        </>
      }
      onClose={onClose}
    >
      <ActionForm verb="Revoke" send={send} onCancel={onClose} isGrave>
        <p>
          Programs that use <code>{`${apiKey.prefix}…${apiKey.last4}`}</code> are refused, here at once and everywhere
          within ten seconds. It does not come back.
        </p>
      </ActionForm>
    </Dialog>
  );
}
