import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { openDialog } from "./dialog-entry.ts";
import { rememberOpener } from "./opener.ts";

interface Props {
  readonly title: ComponentChildren;
  readonly onClose: () => void;
  /** Whether Escape and Back leave it open, because what it shows is never shown again. */
  readonly isKept?: boolean;
  readonly children: ComponentChildren;
}

/**
 * A dialog over the page. Escape and Back close it, unless it is kept. The browser keeps the focus inside; afterwards the
 * focus returns to the element that opened it.
 */
export function Dialog({ title, onClose, isKept = false, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const now = useRef({ isKept, onClose });
  now.current = { isKept, onClose };
  useEffect(() => {
    const element = dialog.current;
    const giveFocusBack = rememberOpener();
    element?.showModal();
    const leave = openDialog({ isKept: () => now.current.isKept, close: () => now.current.onClose() });
    return () => {
      leave();
      element?.close();
      giveFocusBack();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (!isKept) {
          onClose();
        }
      }}
      onKeyDown={(event) => {
        // Browsers close a dialog at the second Escape in a row without asking.
        if (isKept && event.key === "Escape") {
          event.preventDefault();
        }
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
