import { createSeal } from "#lib/sealed.ts";
import { ConfigError } from "#src/config/config-error.ts";
import type { Config } from "#src/config/schema.ts";
import { EventMails } from "#src/delivery/mail/event-mails.ts";
import { MailBox } from "#src/delivery/mail/mail-box.ts";
import { MailOutbox } from "#src/delivery/mail/mail-outbox.ts";
import { MailSender } from "#src/delivery/mail/mail-sender.ts";
import type { Recipients } from "#src/delivery/mail/recipients.ts";
import { createSmtp } from "#src/delivery/mail/smtp.ts";
import { readTemplates } from "#src/delivery/mail/template-files.ts";
import { Templates } from "#src/delivery/mail/templates.ts";
import type { SpreadAlongside } from "#src/delivery/webhooks/spread.ts";
import { Account } from "#src/storage/entities/account.ts";
import { Member } from "#src/storage/entities/people/member.ts";
import { Person } from "#src/storage/entities/people/person.ts";
import { WorkLease } from "#src/storage/work-lease.ts";
import type { Foundation } from "./foundation.ts";

/** Mail to customers. */
export interface MailPart {
  /** Takes mails in. Undefined: no mail server is configured. */
  readonly box: MailBox | undefined;
  /** Writes the mails that tell of events. Undefined: no mail server is configured. */
  readonly alongside: SpreadAlongside | undefined;
  stop(): Promise<void>;
}

/** The addresses of an account: its own, and those of its owners that somebody has vouched for. */
const recipients: Recipients = {
  async of(em, accountId) {
    const account = await em.findOne(Account, accountId);
    if (account === null) {
      return undefined;
    }
    const owners = await em.find(Member, { accountId, role: "owner" });
    const persons = await em.find(Person, { id: { $in: owners.map(({ personId }) => personId) }, emailVerified: true });
    const addresses = [account.email, ...persons.map(({ email }) => email)].filter((address) => address);
    return { name: account.name || account.id, addresses: [...new Set(addresses as string[])] };
  },
};

/** Sends mail if a server is configured. */
export async function composeMail(foundation: Foundation): Promise<MailPart> {
  const { config, secrets, storage, clock, random, logger, metrics } = foundation;
  const { mail } = config;
  if (mail === undefined || secrets.smtpUrl === undefined) {
    return { box: undefined, alongside: undefined, stop: async () => {} };
  }
  const seal = createSeal(secrets.peppers, random);
  const box = new MailBox({
    storage,
    clock,
    random,
    seal,
    bounds: mail.an_hour,
    bounded: (kind) => metrics.mails.counted(kind, "bounded"),
  });
  const events = new EventMails({ box, recipients });
  const stop = new MailSender({
    outbox: new MailOutbox({ storage, clock }),
    templates: await openTemplates(config),
    lease: new WorkLease({ storage, clock, random, name: "mail" }),
    send: createSmtp({ url: secrets.smtpUrl, from: mail.from, clock }),
    host: /@([^\s>]+)/.exec(mail.from)?.[1] ?? "localhost",
    observer: metrics.mails,
    seal,
    clock,
    logger,
  }).start();
  return { box, alongside: (em, told) => events.write(em, told), stop };
}

/** Reads the templates. Throws ConfigError where one cannot be used. */
export async function openTemplates({ mail, site }: Pick<Config, "mail" | "site">): Promise<Templates> {
  const facts = { site: site.name, support: site.support ?? "", console: site.address ?? "" };
  try {
    return new Templates(await readTemplates(mail?.templates), facts);
  } catch (error) {
    throw new ConfigError(`mail.templates: ${error instanceof Error ? error.message : String(error)}`);
  }
}
