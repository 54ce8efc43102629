import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { rememberOpener } from "./opener.ts";

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A question on top of the page. Escape closes it; the browser keeps the focus inside, and it goes back to what opened the question. */
export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    const giveFocusBack = rememberOpener();
    element?.showModal();
    return () => {
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
        onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
