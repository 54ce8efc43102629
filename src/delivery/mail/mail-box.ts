import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import type { Random } from "#lib/ids/random.ts";
import type { Seal } from "#lib/ids/sealed.ts";
import { toCustomerNetwork } from "#lib/net/network.ts";
import type { Clock } from "#lib/time/clock.ts";
import { hourMs } from "#lib/time/days.ts";
import { WorkLease } from "#src/storage/entities/event.ts";
import { Mail } from "#src/storage/entities/mail.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { type MailKind, type MailValues, mailKinds } from "./kinds.ts";

const longestAddress = 254;
/** The row that is locked so that no two count at once. */
const countName = "mail bounds";

/** The most mails an hour. */
export interface MailBounds {
  /** To one address that people ask for, and as many that events cause. */
  readonly address: number;
  /** Asked for from one network. */
  readonly network: number;
  /** That people ask for, all together. */
  readonly all: number;
}

export interface Dependencies {
  readonly storage: Storage;
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
  readonly seal: Pick<Seal, "close">;
  readonly bounds: MailBounds;
  /** Called with the kind of each mail that a bound kept from being written. */
  readonly bounded: (kind: MailKind) => void;
}

/** Takes mails in. Each is a row in the transaction of what it tells, and is sent once that is durable. */
export class MailBox {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /**
   * Takes in a mail that somebody asked for. `client`: the address that they called from. False: a bound keeps it from being
   * sent, which callers tell nobody.
   */
  send<Kind extends MailKind>(kind: Kind, to: string, values: MailValues<Kind>, client?: string): Promise<boolean> {
    return inTransaction(this.#parts.storage, (em) => this.put(em, kind, to, values, client));
  }

  /** The same in a transaction of the caller's. */
  async put<Kind extends MailKind>(
    em: SqlEntityManager,
    kind: Kind,
    to: string,
    values: MailValues<Kind>,
    client?: string,
  ): Promise<boolean> {
    const { clock, bounds } = this.#parts;
    const network = client === undefined ? undefined : toCustomerNetwork(client);
    await lockCounts(em);
    const asked = { eventId: null, at: { $gt: new Date(clock.now() - hourMs) } };
    const isFull =
      (await em.count(Mail, { ...asked, address: toAddress(to) })) >= bounds.address ||
      (network !== undefined && (await em.count(Mail, { ...asked, network })) >= bounds.network) ||
      (await em.count(Mail, asked)) >= bounds.all;
    if (isFull) {
      this.#parts.bounded(kind);
      return false;
    }
    await this.#insert(em, kind, to, values, { network });
    return true;
  }

  /** Takes in a mail that tells of an event: once an address. */
  async tell<Kind extends MailKind>(
    em: SqlEntityManager,
    eventId: string,
    kind: Kind,
    to: string,
    values: MailValues<Kind>,
  ): Promise<void> {
    const address = toAddress(to);
    await lockCounts(em);
    const recent = { address, eventId: { $ne: null }, at: { $gt: new Date(this.#parts.clock.now() - hourMs) } };
    if ((await em.count(Mail, recent)) >= this.#parts.bounds.address) {
      this.#parts.bounded(kind);
    } else if ((await em.count(Mail, { eventId, address })) === 0) {
      await this.#insert(em, kind, to, values, { eventId });
    }
  }

  async #insert(
    em: SqlEntityManager,
    kind: MailKind,
    to: string,
    values: Readonly<Record<string, string>>,
    { eventId, network }: { readonly eventId?: string; readonly network?: string | undefined },
  ): Promise<void> {
    const { clock, random, seal } = this.#parts;
    const at = new Date(clock.now());
    await em.insert(Mail, {
      id: random.uuid(),
      kind,
      address: toAddress(to),
      eventId: eventId ?? null,
      network: network ?? null,
      content: seal.close(JSON.stringify(values)),
      at,
      until: new Date(at.getTime() + mailKinds[kind].keepMs),
      status: "pending",
      attempts: 0,
      nextAt: at,
      firstAt: null,
      error: "",
    });
  }
}

/** Whether a text can be an address of a mail: one line, one @, nothing that could be a second address. */
export function isAddress(text: string): boolean {
  return text.length <= longestAddress && /^[^\s@,;:<>()[\]"\\\p{Cc}]{1,64}@[^\s@,;:<>()[\]"\\\p{Cc}]+$/u.test(text);
}

/** Host names have no case; what stands before them hardly ever has. */
function toAddress(text: string): string {
  return text.trim().toLowerCase();
}

async function lockCounts(em: SqlEntityManager): Promise<void> {
  const row = { name: countName, holder: "", until: new Date(0) };
  await em.upsert(WorkLease, row, { onConflictAction: "ignore" });
  await em.findOne(WorkLease, countName, { lockMode: LockMode.PESSIMISTIC_WRITE });
}
