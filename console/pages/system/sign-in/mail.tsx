import { useState } from "preact/hooks";
import { askForMail } from "../../../app/session.ts";
import { keepNextPage } from "../../../app/tabs/next-page.ts";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Field } from "../../../parts/forms/field.tsx";

/** Sign-in by a link that comes by mail. `next`: the page to go to afterwards, which stays in the browser. */
export function MailLink({ next }: { readonly next: string }) {
  const [email, setEmail] = useState("");
  const [askedFor, setAskedFor] = useState("");
  const send = async (): Promise<void> => {
    keepNextPage(next);
    await askForMail(email.trim());
    setAskedFor(email.trim());
  };
  if (askedFor !== "") {
    return (
      <p role="status">
        If {askedFor} may sign in here, a mail with a link is on its way. Open it in this browser within ten minutes.
      </p>
    );
  }
  return (
    <ActionForm verb="Mail me a link" send={send}>
      <Field label="E-mail" name="email" value={email} onInput={setEmail} maxLength={254} autocomplete="email" />
    </ActionForm>
  );
}
