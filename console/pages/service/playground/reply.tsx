import { useState } from "preact/hooks";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { TextArea } from "../../../parts/forms/field.tsx";

/** Goes on with the conversation. */
export function Reply({ onSend }: { readonly onSend: (text: string) => Promise<void> }) {
  const [text, setText] = useState("");
  const send = async (): Promise<void> => {
    if (text.trim() === "") {
      throw new Error("The reply is empty.");
    }
    await onSend(text);
    setText("");
  };
  return (
    <ActionForm verb="Reply" send={send}>
      <TextArea label="Reply" name="reply" value={text} onInput={setText} rows={2} />
    </ActionForm>
  );
}
