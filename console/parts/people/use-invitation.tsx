import { useState } from "preact/hooks";
import { navigate } from "../../app/router.ts";
import { switchAccount } from "../../app/session.ts";
import { people } from "../../contract/clients.ts";
import { ActionForm } from "../forms/action-form.tsx";
import { Field } from "../forms/field.tsx";

/** Uses an invitation and opens its account. `token` empty: it is typed, or pasted as a link. */
export function UseInvitation({ token }: { readonly token: string }) {
  const [typed, setTyped] = useState("");
  const send = async (): Promise<void> => {
    const given = token || (typed.trim().split("/").at(-1) ?? "");
    const { accountId } = await people.acceptInvitation({ token: given });
    await switchAccount(accountId);
    navigate("/overview");
  };
  return (
    <ActionForm verb="Accept the invitation" send={send}>
      {token === "" && (
        <Field label="Invitation" name="invitation" value={typed} onInput={setTyped} isCode placeholder="tgin_…" />
      )}
    </ActionForm>
  );
}
