import { createSeal } from "#lib/ids/sealed.ts";
import { ConfigError } from "#src/config/config-error.ts";
import type { Config } from "#src/config/schema.ts";
import { EventMails } from "#src/delivery/mail/event-mails.ts";
import { MailBox } from "#src/delivery/mail/mail-box.ts";
import { MailOutbox } from "#src/delivery/mail/mail-outbox.ts";
import { MailSender } from "#src/delivery/mail/mail-sender.ts";
import { createSmtp } from "#src/delivery/mail/smtp.ts";
import { readTemplates } from "#src/delivery/mail/template-files.ts";
import { Templates } from "#src/delivery/mail/templates.ts";
import type { SpreadAlongside } from "#src/delivery/webhooks/spread.ts";
import { findMailRecipients } from "#src/identity/people/mail-recipients.ts";
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
  const events = new EventMails({ box, recipients: { of: findMailRecipients } });
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
