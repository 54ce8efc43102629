import type { AuditEvent } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { isCustomer } from "../../../app/session.ts";
import { isId } from "../../../format/ids.ts";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Id } from "../../../parts/figures/copy.tsx";

/** The thing that was changed: its name where the change contains it, otherwise its id. Accounts are links. */
export function Target({ event, names }: { readonly event: AuditEvent; readonly names: ReadonlyMap<string, string> }) {
  const { target } = event;
  if (target === "") {
    return <span class="muted">–</span>;
  }
  const name = names.get(target) ?? target;
  const shown = isId(name) ? <Id id={name} /> : <Clip text={name} />;
  return isAccount(event) && !isCustomer.value ? <a href={`/accounts/${target}`}>{shown}</a> : shown;
}

/** The names of targets by id, as far as these changes contain them. */
export function readNames(events: readonly AuditEvent[]): ReadonlyMap<string, string> {
  const named = events.map((event): [string, string] => [event.target, readName(event)]);
  return new Map(named.filter(([, name]) => name !== ""));
}

/**
 * The name in a change. States are the contract's messages as JSON; some have the thing itself in one of their fields.
 */
function readName({ before, after }: AuditEvent): string {
  for (const state of [after, before]) {
    for (const one of [state, ...Object.values(state ?? {})]) {
      const name = typeof one === "object" && one !== null && "name" in one ? one.name : undefined;
      if (typeof name === "string" && name !== "") {
        return name;
      }
    }
  }
  return "";
}

/** Whether the target is an account, judged by the method. */
function isAccount({ method }: AuditEvent): boolean {
  return /\/(TopUp|Grant|Refund|\w+Account)$/.test(method);
}
