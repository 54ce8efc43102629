import { LockMode } from "@mikro-orm/sql";
import type { Clock } from "#lib/time/clock.ts";
import { Mail } from "#src/storage/entities/mail.ts";
import { dropRows } from "#src/storage/orm/drop-rows.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { type Backlog, readBacklog } from "../backlog.ts";
import { nextAttempt } from "../webhooks/back-off.ts";
import { type MailAttempt, mailMs } from "./smtp.ts";

/** A mail that was taken to be sent, by a core that ended meanwhile, is due again after this long. */
const takenMs = mailMs + 30_000;
/** How long mails that are over are kept: who got what, never its content. */
const keepMs = 30 * 86_400_000;
/** The most mails that are counted: this is done each second. */
const mostCounted = 10_000;

/** The stored mails to send. One core at a time works on them. */
export class MailOutbox {
  readonly #storage: Storage;
  readonly #clock: Pick<Clock, "now">;

  constructor(parts: { storage: Storage; clock: Pick<Clock, "now"> }) {
    this.#storage = parts.storage;
    this.#clock = parts.clock;
  }

  /** Takes mails that are to be tried now, the longest due first: until their attempts are over, nobody else has them. */
  async take(limit: number): Promise<Mail[]> {
    const now = this.#clock.now();
    const where = { status: "pending" as const, nextAt: { $lte: new Date(now) } };
    const order = { orderBy: { nextAt: "asc", id: "asc" }, limit } as const;
    // Looks without a transaction first, as this happens each second.
    if ((await this.#storage.orm.em.fork().find(Mail, where, { ...order, limit: 1 })).length === 0) {
      return [];
    }
    return inTransaction(this.#storage, async (em) => {
      const due = await em.find(Mail, where, { ...order, lockMode: LockMode.PESSIMISTIC_WRITE });
      for (const mail of due) {
        mail.nextAt = new Date(now + takenMs);
      }
      return due;
    });
  }

  /** Stores the outcome of an attempt, and erases what a mail said that is over. Returns its new status. */
  async finish({ id }: Pick<Mail, "id">, startedAt: Date, { outcome, error }: MailAttempt): Promise<Mail["status"]> {
    const now = new Date(this.#clock.now());
    return inTransaction(this.#storage, async (em) => {
      const mail = await em.findOneOrFail(Mail, id);
      mail.attempts += 1;
      mail.firstAt ??= startedAt;
      mail.error = error;
      const next = outcome === "later" ? nextAttempt(mail.attempts, mail.firstAt, now) : undefined;
      const isOver = next === undefined || next >= mail.until;
      mail.nextAt = isOver ? null : next;
      if (isOver) {
        mail.status = outcome === "sent" ? "sent" : "failed";
        mail.content = "";
      }
      return mail.status;
    });
  }

  /** Mails that wait, at most `mostCounted`. */
  backlog(): Promise<Backlog> {
    return readBacklog(
      this.#storage,
      this.#clock,
      `select count(*) as waiting, min(at) as oldest
       from (select at from mail where status = 'pending' order by next_at limit ${mostCounted}) pending`,
    );
  }

  /** Drops mails that have long been over. */
  async purge(): Promise<void> {
    const at = { $lt: new Date(this.#clock.now() - keepMs) };
    await dropRows(this.#storage, Mail, { at, status: { $ne: "pending" } });
  }
}
