import { useState } from "preact/hooks";
import type { ApiKey } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { accounts } from "../../contract/clients.ts";
import { ActionForm } from "../forms/action-form.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { Field } from "../forms/field.tsx";
import { fromKey, LimitFields, toLimits } from "./limit-fields.tsx";

interface Props {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** What the form decides; what it leaves empty is lifted. */
const paths = [
  "name",
  "rpm",
  "tokens_per_minute",
  "max_in_flight",
  "budget_pico_usd",
  "budget_period",
  "models",
  "expires_at",
  "service_class",
];

/** Changes a key's name and limits. */
export function EditKey({ apiKey, onClose, onDone }: Props) {
  const [name, setName] = useState(apiKey.name);
  const [limits, setLimits] = useState(() => fromKey(apiKey));
  const send = async (): Promise<void> => {
    await accounts.updateKey({
      keyId: apiKey.id,
      ...(name.trim() === "" ? {} : { name: name.trim() }),
      ...toLimits(limits),
      updateMask: { paths },
    });
    onDone();
  };
  return (
    <Dialog title={`Limits of ${apiKey.name || `…${apiKey.last4}`}`} onClose={onClose}>
      <ActionForm verb="Save" send={send} onCancel={onClose}>
        <Field label="Name" name="name" value={name} onInput={setName} maxLength={200} />
        <LimitFields limits={limits} onChange={setLimits} />
        <p class="hint">They hold here at once and everywhere within ten seconds, over all replicas together.</p>
      </ActionForm>
    </Dialog>
  );
}
