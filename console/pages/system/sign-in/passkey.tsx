import { useState } from "preact/hooks";
import { signInWithPasskey, signUpWithPasskey } from "../../../app/session.ts";
import { ActionButton } from "../../../parts/forms/action-button.tsx";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Field } from "../../../parts/forms/field.tsx";
import { knowsPasskeys } from "../../../parts/people/passkeys.ts";

interface Props {
  /** The host that passkeys are for. Empty: there are none here. */
  readonly host: string;
  readonly maySignUp: boolean;
}

/** Sign-in with a passkey, and sign-up where people may. */
export function Passkey({ host, maySignUp }: Props) {
  const [name, setName] = useState("");
  const { hostname, port, protocol } = location;
  if (host === "" || !knowsPasskeys) {
    return null;
  }
  if (hostname !== host) {
    // Browsers make passkeys for names alone, and this machine is one.
    const isNear = host === "localhost" && (hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname));
    return isNear ? (
      <a class="button provider" href={`${protocol}//localhost:${port}/sign-in`}>
        Use a passkey
      </a>
    ) : null;
  }
  return (
    <div class="provider">
      <ActionButton act={signInWithPasskey}>Use a passkey</ActionButton>
      {maySignUp && (
        <details class="more">
          <summary>You are new here</summary>
          <ActionForm verb="Create a passkey" send={() => signUpWithPasskey(name.trim())}>
            <Field
              label="Your name"
              name="name"
              value={name}
              onInput={setName}
              maxLength={200}
              autocomplete="name"
              hint="Your device keeps the passkey. There is no password."
            />
          </ActionForm>
        </details>
      )}
    </div>
  );
}
