import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { toMessage } from "../../contract/failure.ts";

interface Props {
  readonly children: ComponentChildren;
  /** The action. A second press while it runs does nothing. */
  readonly act: () => Promise<void>;
  readonly isSmall?: boolean;
}

/** A button that acts at once, and shows beside itself why the action failed. */
export function ActionButton({ children, act, isSmall = false }: Props) {
  const [isActing, setActing] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const press = async (): Promise<void> => {
    if (isActing) {
      return;
    }
    setActing(true);
    setError(undefined);
    await act().catch(setError);
    setActing(false);
  };
  return (
    <>
      {error !== undefined && (
        <span class="small action-error" role="alert">
          {toMessage(error)}
        </span>
      )}
      <button
        type="button"
        class={isSmall ? "small-button" : undefined}
        aria-busy={isActing}
        onClick={() => void press()}
      >
        {children}
      </button>
    </>
  );
}
