import type { Invitation } from "#src/storage/entities/people/invitation.ts";

/** An invitation that names the only address that may use it. */
export type AddressedInvitation = Invitation & { readonly email: string };

/** Mails an invitation to its address. `client`: the address of whoever invites. */
export type MailInvitation = (invitation: AddressedInvitation, token: string, client: string) => Promise<void>;
