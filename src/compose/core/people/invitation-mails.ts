import type { MailInvitation } from "#src/identity/people/mail.ts";
import { Account } from "#src/storage/entities/account.ts";
import { Person } from "#src/storage/entities/people/person.ts";
import type { Foundation } from "../foundation.ts";
import type { MailPart } from "../mail.ts";

/** Mails invitations, each with its link. Undefined: there is no mail server, or no address for the link. */
export function mailInvitations(
  { config: { site }, storage }: Pick<Foundation, "config" | "storage">,
  { box }: Pick<MailPart, "box">,
): MailInvitation | undefined {
  const { address, name } = site;
  if (box === undefined || address === undefined) {
    return undefined;
  }
  return async ({ accountId, email, role, invitedBy }, token, client) => {
    const em = storage.orm.em.fork();
    const account = await em.findOneOrFail(Account, accountId);
    const inviter = invitedBy ? await em.findOne(Person, invitedBy) : null;
    const values = {
      url: `${address}/invitation/${token}`,
      account: account.name || account.id,
      inviter: inviter?.name || inviter?.email || name,
      role,
    };
    await box.send("invitation", email, values, client);
  };
}
