import type { JsonObject } from "@bufbuild/protobuf";
import { useState } from "preact/hooks";
import type { AuditEvent } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { Dialog } from "../../../parts/forms/dialog.tsx";

/** The state before and after a change. */
export function Change({ event }: { readonly event: AuditEvent }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <button type="button" class="small-button" onClick={() => setOpen(true)}>
        Show
      </button>
      {isOpen && (
        <Dialog title="What changed" onClose={close}>
          <div class="stack">
            {event.before && <State name="Before" state={event.before} />}
            {event.after && <State name="After" state={event.after} />}
            <div class="form-foot">
              <button type="button" class="primary" onClick={close}>
                Close
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}

function State({ name, state }: { readonly name: string; readonly state: JsonObject }) {
  return (
    <div>
      <h3>{name}</h3>
      <pre class="code-block">{JSON.stringify(state, null, 2)}</pre>
    </div>
  );
}
