import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { GetInvitationResponseSchema } from "#gen/tollgate/people/v1/people_requests_pb.js";
import type { InvitationSchema, MemberSchema, PasskeySchema, PersonSchema } from "#gen/tollgate/people/v1/person_pb.js";
import type { Offer } from "#src/identity/people/invitations.ts";
import type { NamedMember } from "#src/identity/people/members.ts";
import type { Passkey } from "#src/identity/people/passkeys/passkeys.ts";
import { toMemberRole } from "#src/identity/people/roles.ts";
import type { Invitation } from "#src/storage/entities/people/invitation.ts";
import type { Person } from "#src/storage/entities/people/person.ts";

/** A person as a message of the contract. */
export function personMessage(person: Person): MessageInitShape<typeof PersonSchema> {
  const { id, name, email, emailVerified, createdAt, mails } = person;
  return {
    id,
    name,
    email: email ?? "",
    emailVerified,
    createdAt: timestampFromDate(createdAt),
    ...(mails && { mails: { events: [...mails] } }),
  };
}

/** A member as a message of the contract. */
export function memberMessage(member: NamedMember): MessageInitShape<typeof MemberSchema> {
  const { accountId, personId, role, name, email, createdAt } = member;
  return {
    accountId,
    personId,
    role: toMemberRole(role),
    name,
    email: email ?? "",
    createdAt: timestampFromDate(createdAt),
  };
}

/** A passkey as a message of the contract. */
export function passkeyMessage({ id, name, createdAt, usedAt }: Passkey): MessageInitShape<typeof PasskeySchema> {
  return { id, name, createdAt: timestampFromDate(createdAt), ...(usedAt && { usedAt: timestampFromDate(usedAt) }) };
}

/** An invitation as a message of the contract, without its token. */
export function invitationMessage(invitation: Invitation): MessageInitShape<typeof InvitationSchema> {
  return {
    id: invitation.id,
    accountId: invitation.accountId,
    role: toMemberRole(invitation.role),
    email: invitation.email ?? "",
    invitedBy: invitation.invitedBy ?? "",
    createdAt: timestampFromDate(invitation.createdAt),
    expiresAt: timestampFromDate(invitation.expiresAt),
  };
}

/** What an invitation gives, as a message of the contract. */
export function offerMessage(offer: Offer): MessageInitShape<typeof GetInvitationResponseSchema> {
  const { accountName, role, inviterName, expiresAt } = offer;
  return { accountName, role: toMemberRole(role), inviterName, expiresAt: timestampFromDate(expiresAt) };
}
