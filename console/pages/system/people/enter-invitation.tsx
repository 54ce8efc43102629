import { useState } from "preact/hooks";
import { navigate } from "../../../app/router.ts";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Field } from "../../../parts/forms/field.tsx";

/** Opens the page of an invitation whose link or token somebody has at hand. */
export function EnterInvitation() {
  const [typed, setTyped] = useState("");
  const send = async (): Promise<void> => {
    const token = typed.trim().split("/").at(-1) ?? "";
    if (token === "") {
      throw new Error("Paste the invitation's link or token.");
    }
    navigate(`/invitation/${token}`);
  };
  return (
    <ActionForm verb="Open the invitation" send={send}>
      <Field label="Invitation" name="invitation" value={typed} onInput={setTyped} isCode placeholder="tgin_…" />
    </ActionForm>
  );
}
