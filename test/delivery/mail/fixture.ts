import { afterEach } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { createSeal } from "#lib/ids/sealed.ts";
import { EventMails } from "#src/delivery/mail/event-mails.ts";
import { type MailBounds, MailBox } from "#src/delivery/mail/mail-box.ts";
import { MailOutbox } from "#src/delivery/mail/mail-outbox.ts";
import { MailSender } from "#src/delivery/mail/mail-sender.ts";
import type { Recipients } from "#src/delivery/mail/recipients.ts";
import { createSmtp, type SendMail } from "#src/delivery/mail/smtp.ts";
import { readTemplates } from "#src/delivery/mail/template-files.ts";
import { Templates } from "#src/delivery/mail/templates.ts";
import { Outbox } from "#src/delivery/webhooks/outbox.ts";
import { Mail } from "#src/storage/entities/mail.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { createAnnounce, type NewEvent } from "#src/storage/outbox/announcer.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { WorkLease } from "#src/storage/work-lease.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../support/loggers.ts";
import { MailServer } from "./mail-server.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

/** Calls a function when the test is over. */
export function afterwards(cleanup: () => Promise<unknown>): void {
  cleanups.push(cleanup);
}

/** Mail over a real database and a real mail server. Every account is "Ada". `folder`: of an operator's templates. */
export async function openMail(url: string, bounds: Partial<MailBounds> = {}, folder?: string) {
  const storage = await openStorage(url);
  afterwards(() => storage.close());
  const server = await MailServer.start();
  afterwards(() => server[Symbol.asyncDispose]());
  const clock = new ManualClock();
  const random = systemRandom;
  const seal = createSeal([{ version: 1, secret: "pepper" }], random);
  const counts: string[] = [];
  const addresses = ["ada@example.com"];
  const recipients: Recipients = { of: async () => ({ name: "Ada", addresses }) };
  const box = new MailBox({
    storage,
    clock,
    random,
    seal,
    bounds: { address: 10, network: 30, all: 100, ...bounds },
    bounded: (kind) => void counts.push(`${kind} bounded`),
  });
  const events = new EventMails({ box, recipients });
  const templates = new Templates(await readTemplates(folder), { site: "Example", support: "", console: "" });
  const announce = createAnnounce({ clock, random });
  const send = createSmtp({ url: server.url, from: "Example <no-reply@example.com>", clock });
  const backlog = { waiting: 0, oldestMs: 0 };
  return {
    storage,
    server,
    clock,
    box,
    counts,
    addresses,
    backlog,
    send,
    /** A core that sends. */
    core: (sends: SendMail = send) =>
      new MailSender({
        outbox: new MailOutbox({ storage, clock }),
        templates,
        seal,
        clock,
        host: "example.com",
        lease: new WorkLease({ storage, clock, random, name: "mail" }),
        send: sends,
        logger: silentLogger,
        observer: {
          counted: (kind, outcome) => void counts.push(`${kind} ${outcome}`),
          backlog: (waiting, oldestMs) => void Object.assign(backlog, { waiting, oldestMs }),
        },
      }),
    announce: (event: NewEvent) => inTransaction(storage, (em) => announce(em, event)),
    /** Makes the deliveries and mails of events, as the core does that delivers them. */
    spread: () => new Outbox({ storage, clock, random, alongside: (em, told) => events.write(em, told) }).spread(),
    stored: () => storage.orm.em.fork().find(Mail, {}, { orderBy: { at: "asc", id: "asc" } }),
  };
}

/** A sign-in link. */
export const link = { url: "https://console.example.com/sign-in/secret", minutes: "10" };

/** A low balance of an account. */
export function lowBalance(accountId = v7()): NewEvent {
  return { type: "balance.low", accountId, data: { balance_usd: "0.5", threshold_usd: "1" } };
}
