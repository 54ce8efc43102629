import type { ComponentChildren } from "preact";
import { Copyable } from "../figures/copy.tsx";

interface Props {
  readonly secret: string;
  readonly onClose: () => void;
  /** What to do with it. */
  readonly children?: ComponentChildren;
}

/** A key's secret, shown this one time only. */
export function Secret({ secret, onClose, children }: Props) {
  return (
    <div class="stack">
      <p role="status">This is the only time that the key is shown. Keep it where secrets are kept.</p>
      <Copyable text={secret} what="the key" />
      {children}
      <div class="form-foot">
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
      </div>
    </div>
  );
}
