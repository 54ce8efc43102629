import { createHash } from "node:crypto";
import type { PageStart } from "#lib/rpc/pages.ts";
import type { Clock } from "#lib/time/clock.ts";
import { DeadLetter } from "#src/storage/entities/metering/dead-letter.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import type { Charge } from "../../model/charges/charge.ts";
import type { Run } from "../../model/charges/run.ts";

/** A charge that could not be made. Its counts come from notes of the request, and may not be numbers. */
export interface LostCharge {
  /** The id of its run, as `toLetterId` makes it. */
  readonly id: string;
  readonly charge: Charge;
  /** Why the charge could not be made, for people. */
  readonly reason: string;
  readonly coreId: string;
  readonly at: Date;
}

/** The longest id that is kept as it is, in characters: an index of PostgreSQL takes no long text. */
const plainId = 200;

/**
 * The table of charges that cannot be made. Every core's operator sees it, and backups contain it. A charge stays in
 * the journal until it is here, so the database may be away when the charge is given up.
 */
export class DeadLetters {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #coreId: string;

  constructor(parts: { storage: Storage; clock: Clock; coreId: string }) {
    this.#storage = parts.storage;
    this.#clock = parts.clock;
    this.#coreId = parts.coreId;
  }

  /** Keeps a charge. A charge that is already here stays as it came first, with the newest reason. */
  async put(charge: Charge, reason: string): Promise<void> {
    const letter = {
      id: toLetterId(charge),
      charge: JSON.stringify(charge),
      reason: printable(reason),
      coreId: this.#coreId,
      at: new Date(this.#clock.now()),
    };
    await inTransaction(this.#storage, (em) =>
      em.upsert(DeadLetter, letter, { onConflictAction: "merge", onConflictMergeFields: ["reason"] }),
    );
  }

  /** A page of dead letters, ordered by id. */
  async list({ after, limit }: PageStart): Promise<LostCharge[]> {
    const em = this.#storage.orm.em.fork();
    const where = after === undefined ? {} : { id: { $gt: after } };
    return (await em.find(DeadLetter, where, { orderBy: { id: "asc" }, limit })).map(toLostCharge);
  }

  async find(id: string): Promise<LostCharge | undefined> {
    const row = await this.#storage.orm.em.fork().findOne(DeadLetter, id);
    return row === null ? undefined : toLostCharge(row);
  }

  /** Returns whether the dead letter existed. */
  async remove(id: string): Promise<boolean> {
    return (await inTransaction(this.#storage, (em) => em.nativeDelete(DeadLetter, id))) > 0;
  }

  count(): Promise<number> {
    return this.#storage.orm.em.fork().count(DeadLetter);
  }
}

/** An id for any run: control characters are escaped, and a text too long for a key is cut and gets its digest. */
export function toLetterId(run: Run): string {
  const key = String(run.runId);
  const spelled = printable(key);
  if (spelled.length <= plainId) {
    return spelled;
  }
  return `${spelled.slice(0, plainId)}#${createHash("sha256").update(key).digest("hex").slice(0, 32)}`;
}

/** A text that every database takes: PostgreSQL refuses NUL and halves of surrogate pairs. */
function printable(text: string): string {
  const json = JSON.stringify(text).slice(1, -1);
  return json.includes("\\u") ? json : text;
}

function toLostCharge({ id, charge, reason, coreId, at }: DeadLetter): LostCharge {
  return { id, charge: JSON.parse(charge) as Charge, reason, coreId, at };
}
