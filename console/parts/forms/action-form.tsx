import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Failure } from "../calls/answer.tsx";

interface Props {
  /** The label of the button that sends. */
  readonly verb: string;
  /** Sends the form. An error that it throws is shown below the fields. */
  readonly send: () => Promise<void>;
  readonly onCancel?: () => void;
  /** The label of the cancel button. */
  readonly cancelVerb?: string;
  /** Whether it removes something irrevocably. */
  readonly isGrave?: boolean;
  readonly isDisabled?: boolean;
  readonly children?: ComponentChildren;
}

/** The console's only kind of form: fields, one button that sends, and the error. It never sends twice. */
export function ActionForm({ verb, send, onCancel, cancelVerb = "Cancel", isGrave, isDisabled, children }: Props) {
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isSending) {
      return;
    }
    setSending(true);
    setError(undefined);
    try {
      await send();
    } catch (failure) {
      setError(failure);
    } finally {
      setSending(false);
    }
  };
  return (
    <form class="form" noValidate onSubmit={(event) => void submit(event)}>
      {children}
      {error !== undefined && <Failure error={error} />}
      <div class="form-foot">
        {onCancel && (
          <button type="button" class="quiet" onClick={onCancel}>
            {cancelVerb}
          </button>
        )}
        <button type="submit" class={isGrave ? "primary grave" : "primary"} disabled={isDisabled} aria-busy={isSending}>
          {verb}
        </button>
      </div>
    </form>
  );
}
