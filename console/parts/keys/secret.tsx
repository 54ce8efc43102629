import { Copyable } from "../figures/copy.tsx";

/** A key's secret, shown this one time only. */
export function Secret({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <div class="stack">
      <p role="status">This is the only time that the key is shown. Keep it where secrets are kept.</p>
      <Copyable text={secret} what="the key" />
      <div class="form-foot">
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
      </div>
    </div>
  );
}
