import { useState } from "preact/hooks";
import { isCustomer } from "../../app/session.ts";
import { accounts } from "../../contract/clients.ts";
import { useRequestId } from "../../contract/request-id.ts";
import { AccountField } from "../forms/account-field.tsx";
import { ActionForm } from "../forms/action-form.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { Field } from "../forms/field.tsx";
import { LimitFields } from "./limit-fields.tsx";
import { emptyLimits, toLimits } from "./limit-texts.ts";
import { Secret } from "./secret.tsx";

interface Props {
  /** The account of the new key, unless the form changes it. */
  readonly accountId: string;
  readonly onClose: () => void;
  readonly onCreated: () => void;
}

/** Creates a key and shows its secret once. */
export function CreateKey({ accountId, onClose, onCreated }: Props) {
  const [account, setAccount] = useState(accountId);
  const [name, setName] = useState("");
  const [limits, setLimits] = useState(emptyLimits);
  const [secret, setSecret] = useState("");
  const requestId = useRequestId();
  const send = async (): Promise<void> => {
    const request = { accountId: account.trim(), name: name.trim(), requestId, limits: toLimits(limits) };
    setSecret((await accounts.createKey(request)).secret);
    onCreated();
  };
  return (
    <Dialog title={secret === "" ? "Create key" : "The new key"} onClose={onClose} isKept={secret !== ""}>
      {secret === "" ? (
        <ActionForm verb="Create" send={send} onCancel={onClose}>
          {!isCustomer.value && <AccountField label="Account" value={account} onInput={setAccount} />}
          <Field
            label="Name"
            name="name"
            value={name}
            onInput={setName}
            maxLength={200}
            hasFocus={isCustomer.value || accountId !== ""}
            hint="What uses it, such as production."
          />
          <details class="more">
            <summary>Limits of its own: models, pace, budget, end</summary>
            <LimitFields limits={limits} onChange={setLimits} />
          </details>
        </ActionForm>
      ) : (
        <Secret secret={secret} onClose={onClose} />
      )}
    </Dialog>
  );
}
