import { useState } from "preact/hooks";
import { mayBill } from "../../../app/session.ts";
import { accounts } from "../../../contract/clients.ts";
import { useRequestId } from "../../../contract/request-id.ts";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Dialog } from "../../../parts/forms/dialog.tsx";
import { Field } from "../../../parts/forms/field.tsx";
import { Secret } from "../../../parts/keys/secret.tsx";

/** The result of the first step. */
export interface FirstKey {
  readonly accountId: string;
  readonly secret: string;
}

interface Props {
  /** Undefined: nothing was created yet, or its reader still looks at the key. */
  readonly made: FirstKey | undefined;
  readonly onMade: (made: FirstKey) => void;
}

/** Creates an account with a key, and shows the key's secret once. */
export function FirstAccount({ made, onMade }: Props) {
  const [name, setName] = useState("My first customer");
  const [shown, setShown] = useState<FirstKey | undefined>(undefined);
  const requestId = useRequestId();
  if (!mayBill.value) {
    return <p class="muted">Your role may not make accounts. Somebody with the role billing or owner can.</p>;
  }
  if (made !== undefined) {
    return (
      <p>
        Both are there. <a href={`/accounts/${made.accountId}`}>Open the account</a>
      </p>
    );
  }
  const send = async (): Promise<void> => {
    const { account } = await accounts.createAccount({ name: name.trim(), requestId });
    const accountId = account?.id ?? "";
    const { secret } = await accounts.createKey({ accountId, name: "first key", requestId });
    setShown({ accountId, secret });
  };
  if (shown !== undefined) {
    const close = (): void => onMade(shown);
    return (
      <Dialog title="The new key" onClose={close} isKept>
        <Secret secret={shown.secret} onClose={close} />
      </Dialog>
    );
  }
  return (
    <ActionForm verb="Create account and key" send={send}>
      <Field
        label="Name"
        name="name"
        value={name}
        onInput={setName}
        hint="It gets the free credit of the configuration at once."
      />
    </ActionForm>
  );
}
