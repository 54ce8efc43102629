import { createHash } from "node:crypto";
import type { PageStart } from "../../../lib/rpc/pages.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { DeadLetter } from "../../storage/entities/metering/dead-letter.ts";
import type { Storage } from "../../storage/orm.ts";
import { inTransaction } from "../../storage/transaction.ts";
import { type Run, runKey } from "../ledger/run.ts";
import type { Charge } from "../ledger/settlement/charge.ts";

/** A charge that could not be made. Its counts are what was noted of the request, and may be no counts at all. */
export interface LostCharge {
  /** Names it: its run. */
  readonly id: string;
  readonly charge: Charge;
  /** Why it could not be made, for people. */
  readonly reason: string;
  readonly coreId: string;
  readonly at: Date;
}

/** Longest id that is kept as it is; an index of PostgreSQL takes no long text. */
const plainId = 200;

/**
 * Where charges go that cannot be made: a table, so that every core's operator sees them, and backups have them. A
 * charge stays in the journal until it is here, so the database may be away when it is given up.
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

  /** Keeps a charge. One that is already here stays as it came first, with the newest reason. */
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

  /** Some of them, in the order of their ids. */
  async list({ after, limit }: PageStart): Promise<LostCharge[]> {
    const em = this.#storage.orm.em.fork();
    const where = after === undefined ? {} : { id: { $gt: after } };
    return (await em.find(DeadLetter, where, { orderBy: { id: "asc" }, limit })).map(toLostCharge);
  }

  async find(id: string): Promise<LostCharge | undefined> {
    const row = await this.#storage.orm.em.fork().findOne(DeadLetter, id);
    return row === null ? undefined : toLostCharge(row);
  }

  /** Returns whether it was there. */
  async remove(id: string): Promise<boolean> {
    return (await inTransaction(this.#storage, (em) => em.nativeDelete(DeadLetter, id))) > 0;
  }

  count(): Promise<number> {
    return this.#storage.orm.em.fork().count(DeadLetter);
  }
}

/** A key for any run: control characters are spelled out, and what is too long for a key is cut and told apart by its digest. */
export function toLetterId(run: Run): string {
  const key = String(runKey(run));
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
