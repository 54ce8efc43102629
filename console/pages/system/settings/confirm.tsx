import type { ComponentChildren } from "preact";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Dialog } from "../../../parts/forms/dialog.tsx";

interface Props {
  readonly title: ComponentChildren;
  readonly verb: string;
  readonly act: () => Promise<void>;
  readonly onClose: () => void;
  /** What follows from it. */
  readonly children: ComponentChildren;
}

/** Asks before something that does not come back. */
export function Confirm({ title, verb, act, onClose, children }: Props) {
  return (
    <Dialog title={title} onClose={onClose}>
      <ActionForm verb={verb} send={act} onCancel={onClose} isGrave>
        <p>{children}</p>
      </ActionForm>
    </Dialog>
  );
}
