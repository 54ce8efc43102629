import { useState } from "preact/hooks";
import type { ApiKey } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { say } from "../../app/said.tsx";
import { accounts } from "../../contract/clients.ts";
import { ActionForm } from "../forms/action-form.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { Field } from "../forms/field.tsx";
import { KeyName } from "./key-name.tsx";
import { LimitFields } from "./limit-fields.tsx";
import { findChanged, fromKey, toLimits } from "./limit-texts.ts";

interface Props {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Changes a key's name and limits. Emptied fields remove their limits; untouched fields stay as they are. */
export function EditKey({ apiKey, onClose, onDone }: Props) {
  const [name, setName] = useState(apiKey.name);
  const [before] = useState(() => fromKey(apiKey));
  const [limits, setLimits] = useState(before);
  const send = async (): Promise<void> => {
    const asked = { keyId: apiKey.id, name: name.trim(), limits: toLimits(limits) };
    const paths = [...(asked.name === apiKey.name ? [] : ["name"]), ...findChanged(before, limits)];
    if (paths.length > 0) {
      await accounts.updateKey({ ...asked, updateMask: { paths } });
    }
    onDone();
    say("The key is saved.");
  };
  return (
    <Dialog
      title={
        <>
          Limits of <KeyName apiKey={apiKey} />
        </>
      }
      onClose={onClose}
    >
      <ActionForm verb="Save" send={send} onCancel={onClose}>
        <Field label="Name" name="name" value={name} onInput={setName} maxLength={200} />
        <LimitFields limits={limits} onChange={setLimits} />
        <p class="hint">They hold here at once and everywhere within ten seconds, over all replicas together.</p>
      </ActionForm>
    </Dialog>
  );
}
