import type { Seal } from "#lib/ids/sealed.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { repeat } from "#lib/time/repeat.ts";
import type { Mail } from "#src/storage/entities/mail.ts";
import { endingWork, type WorkLease } from "#src/storage/work-lease.ts";
import { isMailKind, type MailKind } from "./kinds.ts";
import type { MailOutbox } from "./mail-outbox.ts";
import type { MailAttempt, SendMail } from "./smtp.ts";
import type { Templates } from "./templates.ts";

const pollMs = 1000;
const purgeMs = 3_600_000;
/** Mails on their way at once. */
export const mailsAtOnce = 4;

/** Observes mails. */
export interface MailObserver {
  /** sent; retried: it will be tried again; failed: given up; bounded: too many within the hour, so it was not written. */
  counted(kind: MailKind, outcome: "sent" | "retried" | "failed" | "bounded"): void;
  /** Mails that wait, and the age of the oldest in milliseconds. */
  backlog(waiting: number, oldestMs: number): void;
}

export interface Dependencies {
  readonly outbox: MailOutbox;
  readonly templates: Templates;
  /** Lets one core send for all. */
  readonly lease: Pick<WorkLease, "hold" | "release">;
  readonly send: SendMail;
  readonly seal: Pick<Seal, "open">;
  /** The host after the @ of the mails' ids. */
  readonly host: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: MailObserver;
}

/** Sends mails while this core has the lease, some at once, each until a server took it or its time is over. */
export class MailSender {
  readonly #parts: Dependencies;
  #stopped = false;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Starts sending. Returns the function that ends it. Another core may send a mail that is on its way again. */
  start(): () => Promise<void> {
    const { clock, logger, lease, outbox } = this.#parts;
    return endingWork(lease, [
      () => {
        this.#stopped = true;
      },
      repeat(clock, pollMs, logger, "send mails", () => this.turn()),
      repeat(clock, purgeMs, logger, "drop old mails", () => outbox.purge()),
    ]);
  }

  /** Sends the mails that are due. */
  async turn(): Promise<void> {
    const { outbox, lease, observer } = this.#parts;
    let isMore = await lease.hold();
    if (!isMore) {
      return;
    }
    while (isMore && !this.#stopped) {
      const due = await outbox.take(mailsAtOnce);
      await Promise.all(due.map((mail) => this.#deliver(mail)));
      isMore = due.length === mailsAtOnce && (await lease.hold());
    }
    const { waiting, oldestMs } = await outbox.backlog();
    observer.backlog(waiting, oldestMs);
  }

  async #deliver(mail: Mail): Promise<void> {
    const { outbox, clock, logger, observer } = this.#parts;
    const startedAt = new Date(clock.now());
    const attempt = await this.#attempt(mail, startedAt);
    const status = await outbox.finish(mail, startedAt, attempt);
    const { id, kind } = mail;
    observer.counted(kind as MailKind, status === "pending" ? "retried" : status);
    if (status === "failed") {
      logger.error({ id, kind, error: attempt.error }, "a mail was given up");
    } else if (status === "pending") {
      logger.warn({ id, kind, error: attempt.error }, "a mail was not taken and is sent again");
    }
  }

  async #attempt({ id, kind, address, content, until }: Mail, now: Date): Promise<MailAttempt> {
    const { templates, seal, send, host } = this.#parts;
    if (now >= until || !isMailKind(kind)) {
      return { outcome: "refused", error: "it was not taken in time" };
    }
    try {
      const letter = templates.render(kind, JSON.parse(seal.open(content)));
      return await send({ ...letter, to: address, messageId: `<${id}@${host}>` });
    } catch (error) {
      return { outcome: "refused", error: error instanceof Error ? error.message : String(error) };
    }
  }
}
