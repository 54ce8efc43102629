import type { AuditEvent } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { isCustomer } from "../../../app/session.ts";
import { people } from "../../../contract/clients.ts";
import { loadAccountNames } from "../../../parts/account/account-names.ts";
import { loadKeyNames } from "../../../parts/keys/key-names.ts";

/** Names by id, of those who made changes and of what was changed. */
export type Names = ReadonlyMap<string, string>;

/** Members that are asked for by name. */
const mostMembers = 1000;

/** Whether the target is an account: the one whose change it is, or judged by the method. */
export function isAccount({ method, target, accountId }: AuditEvent): boolean {
  return (target !== "" && target === accountId) || /\/(TopUp|Grant|Refund|\w+Account)$/.test(method);
}

/** The names that the changes contain, and of the accounts, keys and people that they name by id alone, those that can be asked for. */
export async function loadNames(events: readonly AuditEvent[], signal: AbortSignal): Promise<Names> {
  const told = new Map(events.flatMap(readNames));
  const isNameless = (id: string) => id !== "" && !told.has(id);
  const targetsOf = (isOfKind: (event: AuditEvent) => boolean) => events.filter(isOfKind).map(({ target }) => target);
  const keyIds = [...events.map(({ keyId }) => keyId), ...targetsOf(({ method }) => /Key$/.test(method))];
  const ofPeople = events.filter(
    (event) => isNameless(event.personId) || (isMember(event) && isNameless(event.target)),
  );
  const [accounts, keys, persons] = await Promise.all([
    loadAccountNames(targetsOf(isAccount).filter(isNameless), signal),
    loadKeyNames(keyIds.filter(isNameless), signal),
    loadPeople(
      ofPeople.map(({ accountId }) => accountId),
      signal,
    ),
  ]);
  const all = [...accounts, ...keys, ...persons, ...told];
  return new Map(all.filter(([, name]) => name !== ""));
}

/** The people of accounts by what they are known by. */
async function loadPeople(accountIds: readonly string[], signal: AbortSignal): Promise<readonly [string, string][]> {
  const asked = [...new Set(accountIds)].filter((id) => id !== "");
  const found = await Promise.allSettled(
    asked.map((id) =>
      people.listMembers({ accountId: isCustomer.peek() ? "" : id, pageSize: mostMembers }, { signal }),
    ),
  );
  const members = found.flatMap((one) => (one.status === "fulfilled" ? one.value.members : []));
  return members.map(({ personId, name, email }) => [personId, name || email]);
}

/** The names in a change: of the person who made it, and of its target. */
function readNames({ target, personId, operator, before, after }: AuditEvent): [string, string][] {
  // Somebody without a name is noted by the id.
  const who: [string, string] = [personId, operator.includes(personId) ? "" : operator];
  const of: [string, string] = [target, readName(after) || readName(before)];
  return [who, of].filter(([id, name]) => id !== "" && name !== "");
}

/** The name in a state: the contract's messages as JSON, of which some have the thing itself in one of their fields. */
function readName(state: AuditEvent["before"]): string {
  for (const field of ["name", "email"]) {
    for (const one of [state, ...Object.values(state ?? {})]) {
      const name = typeof one === "object" && one !== null && field in one ? (one as never)[field] : undefined;
      if (typeof name === "string" && name !== "") {
        return name;
      }
    }
  }
  return "";
}

/** Whether the target is a person with a place in an account, judged by the method. */
function isMember({ method }: AuditEvent): boolean {
  return /\/(SetMemberRole|RemoveMember|LeaveAccount|AcceptInvitation)$/.test(method);
}
