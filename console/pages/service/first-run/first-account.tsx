import { useState } from "preact/hooks";
import { mayBill } from "../../../app/session.ts";
import { accounts } from "../../../contract/clients.ts";
import { useRequestId } from "../../../contract/request-id.ts";
import { Copyable } from "../../../parts/figures/copy.tsx";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Field } from "../../../parts/forms/field.tsx";

/** The result of the first step. */
export interface FirstKey {
  readonly accountId: string;
  readonly secret: string;
}

interface Props {
  /** Undefined: nothing was created yet. */
  readonly made: FirstKey | undefined;
  readonly onMade: (made: FirstKey) => void;
}

/** Creates an account with a key, and shows the key's secret once. */
export function FirstAccount({ made, onMade }: Props) {
  const [name, setName] = useState("My first customer");
  const requestId = useRequestId();
  if (!mayBill.value) {
    return <p class="muted">Your role may not make accounts. Somebody with the role billing or owner can.</p>;
  }
  if (made !== undefined) {
    return (
      <div class="stack">
        <Copyable text={made.secret} what="the key" />
        <p class="muted small">
          Keep it: this is the only time that it is shown. <a href={`/accounts/${made.accountId}`}>Open the account</a>
        </p>
      </div>
    );
  }
  const send = async (): Promise<void> => {
    const { account } = await accounts.createAccount({ name: name.trim(), requestId });
    const accountId = account?.id ?? "";
    const { secret } = await accounts.createKey({ accountId, name: "first key", requestId });
    onMade({ accountId, secret });
  };
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
