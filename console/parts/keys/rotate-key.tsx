import { useState } from "preact/hooks";
import type { ApiKey } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { accounts } from "../../contract/clients.ts";
import { useRequestId } from "../../contract/request-id.ts";
import { ActionForm } from "../forms/action-form.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { Select } from "../forms/field.tsx";
import { KeyName } from "./key-name.tsx";
import { Secret } from "./secret.tsx";

interface Props {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
  readonly onCreated: () => void;
}

/** How long both keys work, in seconds. */
const overlaps = [
  { value: "0", text: "not at all: the old key ends at once" },
  { value: "3600", text: "1 hour" },
  { value: "86400", text: "24 hours" },
  { value: "604800", text: "7 days" },
];

/** Creates the key that replaces this one. */
export function RotateKey({ apiKey, onClose, onCreated }: Props) {
  const [overlap, setOverlap] = useState("86400");
  const [secret, setSecret] = useState("");
  const requestId = useRequestId();
  const send = async (): Promise<void> => {
    const answer = await accounts.rotateKey({ keyId: apiKey.id, overlap: { seconds: BigInt(overlap) }, requestId });
    setSecret(answer.secret);
    onCreated();
  };
  return (
    <Dialog
      title={
        secret === "" ? (
          <>
            Rotate <KeyName apiKey={apiKey} />
          </>
        ) : (
          "The new key"
        )
      }
      onClose={onClose}
      isKept={secret !== ""}
    >
      {secret === "" ? (
        <ActionForm verb="Rotate" send={send} onCancel={onClose}>
          <p class="muted">The new key has the same limits, and both share what these allow while both work.</p>
          <Select
            label="The old key works on for"
            name="overlap"
            value={overlap}
            options={overlaps}
            onChange={setOverlap}
          />
        </ActionForm>
      ) : (
        <Secret secret={secret} onClose={onClose} />
      )}
    </Dialog>
  );
}
