import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { validate as isUuid } from "uuid";
import type { MemberRole as WiredRole } from "#gen/tollgate/access/v1/access_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { UpdatePersonRequest } from "#gen/tollgate/people/v1/people_requests_pb.js";
import type { PeopleService } from "#gen/tollgate/people/v1/people_service_pb.js";
import { InvitationSchema, MemberSchema, PasskeySchema, PersonSchema } from "#gen/tollgate/people/v1/person_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { invalid, requireId } from "#lib/ids/validate-id.ts";
import { readPage } from "#lib/rpc/pages.ts";
import { readUpdateMask } from "#lib/rpc/update-mask.ts";
import type { Invitations } from "#src/identity/people/invitations.ts";
import type { MailInvitation } from "#src/identity/people/mail.ts";
import type { Members } from "#src/identity/people/members.ts";
import type { PasskeySignIn } from "#src/identity/people/passkeys/passkey-sign-in.ts";
import { type Passkeys, unknownPasskey } from "#src/identity/people/passkeys/passkeys.ts";
import type { Persons } from "#src/identity/people/persons.ts";
import { readMemberRole, toMemberRole } from "#src/identity/people/roles.ts";
import type { MemberRole } from "#src/storage/entities/people/member.ts";
import { isMailedEvent, mailedEvents } from "#src/storage/outbox/types.ts";
import { readClientAddress, type TrustsPeer } from "#src/wire/interceptors/access/client-address.ts";
import { readPrincipal, visibleAccount } from "#src/wire/interceptors/access/principal.ts";
import { noteBefore, noteWithin } from "#src/wire/interceptors/changes/change.ts";
import { invitationMessage, memberMessage, offerMessage, passkeyMessage, personMessage } from "./messages.ts";

/** Dependencies. */
export interface Dependencies {
  readonly persons: Persons;
  readonly members: Members;
  readonly invitations: Invitations;
  /** Tells this core and all others that can be reached that an account's people have changed. */
  readonly accountChanged: (accountId: string) => void;
  /** Throws ACCOUNT_NOT_FOUND. */
  readonly requireAccount: (accountId: string) => Promise<unknown>;
  /** Undefined: no mail can be sent. */
  readonly mailInvitation: MailInvitation | undefined;
  /** Whether events are told by mail. */
  readonly sendsMail: boolean;
  readonly passkeys: Passkeys;
  /** Undefined: there are no passkeys here. */
  readonly passkeySignIn: PasskeySignIn | undefined;
  /** Whether a peer is believed where its clients are. */
  readonly trusts: TrustsPeer;
}

/** People and their places in accounts. */
export function createPeopleService(deps: Dependencies): ServiceImpl<typeof PeopleService> {
  const { persons, members, invitations } = deps;

  const requirePasskeys = (): PasskeySignIn => {
    if (deps.passkeySignIn === undefined) {
      throw failure(Reason.UNSUPPORTED, "There are no passkeys here (sign_in.passkeys).");
    }
    return deps.passkeySignIn;
  };

  const remove = async (context: HandlerContext, accountId: string, personId: string): Promise<void> => {
    noteBefore(context, MemberSchema, memberMessage(await members.get(accountId, personId)));
    await members.remove(accountId, personId);
    deps.accountChanged(accountId);
  };

  return {
    async getPerson(_, context) {
      const person = personMessage(await persons.get(toPersonId(context)));
      return { person, mailedEvents: deps.sendsMail ? [...mailedEvents] : [] };
    },

    async updatePerson(request, context) {
      const id = toPersonId(context);
      const changes = readChanges(request);
      noteBefore(context, PersonSchema, personMessage(await persons.get(id)));
      return { person: personMessage(await persons.change(id, changes)) };
    },

    async listAccounts(_, context) {
      const found = await persons.accountsOf(toPersonId(context));
      return { accounts: found.map(({ role, ...place }) => ({ ...place, role: toMemberRole(role) })) };
    },

    async listMembers({ accountId, ...request }, context) {
      const id = toAccountId(context, accountId);
      await deps.requireAccount(id);
      const list = `members of ${id}`;
      const page = await readPage(
        list,
        request,
        (start) => members.list(id, start),
        (member) => member.id,
        isUuid,
      );
      return { members: page.entries.map(memberMessage), nextPageToken: page.nextPageToken };
    },

    async setMemberRole({ accountId, personId, role }, context) {
      const id = toAccountId(context, accountId);
      const wanted = requireRole(role);
      noteBefore(context, MemberSchema, memberMessage(await members.get(id, requirePerson(personId))));
      const member = await members.setRole(id, personId, wanted, readPerson(context));
      deps.accountChanged(id);
      return { member: memberMessage(member) };
    },

    async removeMember({ accountId, personId }, context) {
      await remove(context, toAccountId(context, accountId), requirePerson(personId));
      return {};
    },

    async leaveAccount({ accountId }, context) {
      await remove(context, toAccountId(context, accountId), toPersonId(context));
      return {};
    },

    async createInvitation({ accountId, role, email }, context) {
      const id = toAccountId(context, accountId);
      const { invitation, token } = await invitations.create({
        accountId: id,
        role: requireRole(role),
        email: email || null,
        invitedBy: readPerson(context) ?? null,
      });
      const { email: to } = invitation;
      if (to !== null && to !== undefined) {
        const client = readClientAddress({ header: context.requestHeader, contextValues: context.values }, deps.trusts);
        await deps.mailInvitation?.({ ...invitation, email: to }, token, client);
      }
      return { invitation: invitationMessage(invitation), token };
    },

    async listInvitations({ accountId }, context) {
      const id = toAccountId(context, accountId);
      await deps.requireAccount(id);
      return { invitations: (await invitations.list(id)).map(invitationMessage) };
    },

    async revokeInvitation({ invitationId }, context) {
      const found = isUuid(invitationId) ? await invitations.get(invitationId) : unknownInvitation();
      const principal = readPrincipal(context);
      if (principal.kind === "caller" && principal.accountId !== found.accountId) {
        return unknownInvitation();
      }
      noteBefore(context, InvitationSchema, invitationMessage(found));
      await invitations.revoke(found.id);
      return {};
    },

    async getInvitation({ token }, context) {
      return offerMessage(await invitations.look(token, toPersonId(context)));
    },

    async acceptInvitation({ token }, context) {
      const personId = toPersonId(context);
      const { accountId } = await noteWithin(context, (note) =>
        invitations.accept(token, personId, (em, { accountId, role }) =>
          note(em, { target: personId, accountId, after: { account_id: accountId, person_id: personId, role } }),
        ),
      );
      deps.accountChanged(accountId);
      return { accountId };
    },

    async listPasskeys(_, context) {
      return { passkeys: (await deps.passkeys.list(toPersonId(context))).map(passkeyMessage) };
    },

    beginPasskey: ({ name }, context) => requirePasskeys().beginAdd(toPersonId(context), name),

    async finishPasskey({ credentialJson, pending }, context) {
      const made = await requirePasskeys().finishAdd(toPersonId(context), credentialJson, pending);
      return { passkey: passkeyMessage(made) };
    },

    async removePasskey({ passkeyId }, context) {
      const personId = toPersonId(context);
      const id = isUuid(passkeyId) ? passkeyId : unknownPasskey();
      noteBefore(context, PasskeySchema, passkeyMessage(await deps.passkeys.get(personId, id)));
      await deps.passkeys.remove(personId, id);
      return {};
    },
  };
}

/** What a request changes. Throws INVALID_ARGUMENT for an event that no mail tells of. */
function readChanges({ name, mails, updateMask }: UpdatePersonRequest): Parameters<Persons["change"]>[1] {
  const changes = readUpdateMask(updateMask, { name, mails });
  const unknown = mails?.events.find((event) => !isMailedEvent(event));
  if (unknown !== undefined) {
    throw invalid("mails.events", `${unknown} is none of these types: ${mailedEvents.join(", ")}.`);
  }
  return {
    ...(changes.has("name") && { name: name ?? "" }),
    ...(changes.has("mails") && { mails: mails ? [...new Set(mails.events)] : null }),
  };
}

function toAccountId(context: HandlerContext, accountId: string): string {
  return requireId(visibleAccount(context, accountId), "account");
}

/** The person who made the call. The gate lets nobody else in. */
function toPersonId(context: HandlerContext): string {
  const principal = readPrincipal(context);
  if (principal.kind !== "caller" || principal.personId === undefined) {
    throw failure(Reason.PERMISSION_DENIED, "This call is for sessions of people who signed in.");
  }
  return principal.personId;
}

function requireRole(role: WiredRole): MemberRole {
  const named = readMemberRole(role);
  if (named === undefined) {
    throw invalid("role", "role must be MEMBER_ROLE_VIEWER, MEMBER_ROLE_DEVELOPER or MEMBER_ROLE_OWNER.");
  }
  return named;
}

function requirePerson(id: string): string {
  if (!isUuid(id)) {
    throw failure(Reason.MEMBER_NOT_FOUND, "The person has no place in the account.", { parameter: "person_id" });
  }
  return id;
}

function unknownInvitation(): never {
  throw failure(Reason.INVITATION_NOT_FOUND, "There is no such invitation, or it was used.");
}

/** The person who calls. Undefined: an operator. */
function readPerson(context: Pick<HandlerContext, "values">): string | undefined {
  const principal = readPrincipal(context);
  return principal.kind === "caller" ? principal.personId : undefined;
}
