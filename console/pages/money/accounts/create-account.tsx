import { useState } from "preact/hooks";
import { accounts } from "../../../contract/clients.ts";
import { useRequestId } from "../../../contract/request-id.ts";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Dialog } from "../../../parts/forms/dialog.tsx";
import { Field } from "../../../parts/forms/field.tsx";

interface Props {
  readonly onClose: () => void;
  readonly onCreated: (id: string) => void;
}

/** Asks for a name and creates an account. */
export function CreateAccount({ onClose, onCreated }: Props) {
  const [name, setName] = useState("");
  const requestId = useRequestId();
  const send = async (): Promise<void> => {
    const { account } = await accounts.createAccount({ name: name.trim(), requestId });
    onCreated(account?.id ?? "");
  };
  return (
    <Dialog title="Create account" onClose={onClose}>
      <ActionForm verb="Create" send={send} onCancel={onClose}>
        <Field
          label="Name"
          name="name"
          value={name}
          onInput={setName}
          hasFocus
          maxLength={200}
          hint="Your own label, such as the customer's name. The free tier's money is given at once."
        />
      </ActionForm>
    </Dialog>
  );
}
