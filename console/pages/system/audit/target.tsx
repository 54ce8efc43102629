import type { AuditEvent } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { isCustomer } from "../../../app/session.ts";
import { isId } from "../../../format/ids.ts";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Id } from "../../../parts/figures/copy.tsx";
import { isAccount, type Names } from "./names.ts";

/** The thing that was changed: its name where it is known, otherwise its id. Accounts are links. */
export function Target({ event, names }: { readonly event: AuditEvent; readonly names: Names }) {
  const { target } = event;
  if (target === "") {
    return <span class="muted">–</span>;
  }
  const name = names.get(target) ?? target;
  const shown = isId(name) ? <Id id={name} /> : <Clip text={name} />;
  return isAccount(event) && !isCustomer.value ? <a href={`/accounts/${target}`}>{shown}</a> : shown;
}

/** Who made a change: the operator, the person, or the management key. */
export function Who({
  event: { operator, personId, keyId },
  names,
}: {
  readonly event: AuditEvent;
  readonly names: Names;
}) {
  const key = names.get(keyId);
  return key === undefined ? (
    <Clip text={names.get(personId) ?? operator} isShort />
  ) : (
    <>
      key <Clip text={key} isShort />
    </>
  );
}
