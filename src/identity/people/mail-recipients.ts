import type { SqlEntityManager } from "@mikro-orm/sql";
import { Account } from "#src/storage/entities/account.ts";
import { Member } from "#src/storage/entities/people/member.ts";
import { Person } from "#src/storage/entities/people/person.ts";
import type { MailedEvent } from "#src/storage/outbox/types.ts";

/** Who is told of an event of an account, and what the account is called. */
export interface MailRecipients {
  readonly name: string;
  readonly addresses: readonly string[];
}

/**
 * The account's own address, and those of its members that somebody has vouched for: of owners unless they chose not to hear
 * of such events, of others if they chose to. Whose address is the account's, too, decides for both. Undefined: there is no
 * such account.
 */
export async function findMailRecipients(
  em: SqlEntityManager,
  accountId: string,
  event: MailedEvent,
): Promise<MailRecipients | undefined> {
  const account = await em.findOne(Account, accountId);
  if (account === null) {
    return undefined;
  }
  const members = await em.find(Member, { accountId });
  const roles = new Map(members.map(({ personId, role }) => [personId, role]));
  const persons = await em.find(Person, { id: { $in: [...roles.keys()] }, email: { $ne: null }, emailVerified: true });
  const wants = ({ id, mails }: Person) => mails?.includes(event) ?? roles.get(id) === "owner";
  const toEmail = ({ email }: Person) => email as string;
  const refused = persons.filter((person) => person.mails && !wants(person)).map(toEmail);
  const own = account.email ? [account.email.toLowerCase()].filter((address) => !refused.includes(address)) : [];
  const addresses = [...new Set([...own, ...persons.filter(wants).map(toEmail)])];
  return { name: account.name || account.id, addresses };
}
