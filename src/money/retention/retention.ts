import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Logger } from "#lib/logger.ts";
import { dayMs } from "#lib/time/days.ts";
import { pacer } from "#lib/time/pacer.ts";
import { repeat } from "#lib/time/repeat.ts";
import type { JudgedClock } from "#src/storage/database-clock.ts";
import { ReceiptArchive } from "#src/storage/entities/metering/archive.ts";
import { UsageTally } from "#src/storage/entities/metering/rollup.ts";
import { DaySeal } from "#src/storage/entities/metering/seal.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { lockMsOf } from "#src/storage/postgresql/days.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { type WorkLease, whileRenewing } from "#src/storage/work-lease.ts";
import type { Sealer } from "../books/seals/sealer.ts";
import type { ReceiptStore } from "../model/store/receipt.ts";
import { readKeptFrom } from "../store/kept-from.ts";
import { allAccounts } from "../store/rollups.ts";
import type { ArchivePlace } from "./place.ts";
import { ArchiveReader } from "./read-archive.ts";
import { StepSize } from "./step-size.ts";
import { type ArchiveGround, type WrittenArchive, writeArchive } from "./write-archive.ts";

/** A day leaves soon after it is due. */
const lookMs = 30_000;
/** Receipts removed at once from PostgreSQL, few enough that no lock is held for more than a few milliseconds. */
const stepRows = 100;
/** The longest that a step keeps the one writer of SQLite. */
const mostStepMs = 10;
/**
 * After each step, so many times its duration is left to other work: less, the longer a further day has been due, because
 * receipts come faster than they leave.
 */
export const shareLeft = (overdueMs: number): number =>
  Math.max(1, 9 / (1 + (2 * Math.max(0, overdueMs - dayMs)) / dayMs));
const lockTries = 50;
const lockTimeout = "55P03";

/** Observes how old receipts leave the books. */
export interface RetentionObserver {
  /** This many receipts were removed. */
  removed(receipts: number): void;
  /** All receipts from `keptFrom` on are kept, in milliseconds since the epoch; the oldest due receipt is `overdueMs` late. */
  looked(keptFrom: number, overdueMs: number): void;
}

export interface Dependencies extends ArchiveGround {
  /** Where archives are written, and read back before their receipts leave the books. */
  readonly place: ArchivePlace;
  readonly store: Pick<ReceiptStore, "removeReceipts">;
  /** Seals a day before it leaves: the seal keeps what its receipts cost. */
  readonly sealer: Pick<Sealer, "seal">;
  /** How many whole days of UTC receipts are kept. */
  readonly keepDays: number;
  /** Notes in the audit log that a day was archived, in the transaction that records the archive. */
  readonly note: (em: SqlEntityManager, archive: ReceiptArchive) => Promise<void>;
  /** Lets one core do the work for all. */
  readonly lease: Pick<WorkLease, "hold" | "release">;
  readonly observer: RetentionObserver;
  readonly clock: Omit<JudgedClock, "measure">;
  readonly logger: Logger;
}

/**
 * Takes old receipts out of the books, day by day: a day is sealed and written to a file, whose digest is entered, and
 * then its receipts are removed in small steps. Sums of usage and the seal stay, so the books can be proved at every
 * moment. After any interruption the work continues where it was.
 */
export class Retention {
  readonly #parts: Dependencies;
  #ended = false;
  /** For how long the oldest receipts were due when that was last looked at. */
  #overdueMs = 0;
  /** The current or last work. */
  #working: Promise<unknown> = Promise.resolve();

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Starts the work. Returns the function that ends it. */
  start(): () => Promise<void> {
    const { clock, logger, lease } = this.#parts;
    const work = () => {
      const working = this.work();
      this.#working = working.catch(() => {});
      return working;
    };
    const stop = repeat(clock, lookMs, logger, "archive old receipts", work);
    return async () => {
      this.#ended = true;
      stop();
      await this.#working;
      await lease.release();
    };
  }

  /** Archives and removes all due receipts. When the core ends meanwhile, the rest is left for later. */
  async work(): Promise<void> {
    try {
      await whileRenewing(this.#parts.lease, this.#parts, "archive old receipts", () => this.#workOff());
    } catch (error) {
      if (!this.#ended) {
        throw error;
      }
    }
  }

  /**
   * While the clocks disagree no further day leaves: its charges could not be made any more when they come. What cannot be
   * removed keeps no later day from being archived, and is told of in the end.
   */
  async #workOff(): Promise<void> {
    const failures: unknown[] = [];
    try {
      while (await this.#isMine()) {
        failures.length = 0;
        await this.#removeArchived().catch((error: unknown) => failures.push(error));
        const day = this.#parts.clock.agrees ? await this.#findDue() : undefined; // what cannot leave is told to be late
        if (day === undefined || this.#ended) {
          break;
        }
        await this.#archive(day);
      }
    } catch (error) {
      failures.push(error);
    }
    if (failures.length > 0) {
      throw failures.length === 1 ? failures[0] : new AggregateError(failures, failures.join("; "));
    }
  }

  async #isMine(): Promise<boolean> {
    return !this.#ended && (await this.#parts.lease.hold());
  }

  /** The oldest due day, once its usage has been summed up. */
  async #findDue(): Promise<number | undefined> {
    const { storage, keepDays, clock, observer } = this.#parts;
    const em = storage.orm.em.fork();
    const keptFrom = await readKeptFrom(storage);
    const due = Math.floor(clock.now() / dayMs) - keepDays;
    const oldest = await em.findOne(
      Usage,
      { settledAt: { $gte: new Date(keptFrom), $lt: new Date(due * dayMs) } },
      { orderBy: { settledAt: "asc" } },
    );
    const day = oldest === null ? due : Math.floor(oldest.settledAt.getTime() / dayMs);
    this.#overdueMs = (due - day) * dayMs;
    observer.looked(keptFrom, this.#overdueMs);
    const isSummed = (await em.findOne(UsageTally, { hour: { $lt: (day + 1) * 24 } })) === null;
    return day < due && isSummed ? day : undefined;
  }

  async #archive(day: number): Promise<void> {
    const { sealer, clock, note, logger, place } = this.#parts;
    const [broken] = await sealer.seal(day);
    if (broken !== undefined) {
      throw new Error(`the receipts of a day do not add up, so that it cannot leave: ${broken.rule}: ${broken.row}`);
    }
    const written = await writeArchive(this.#parts, day, this.#pacer());
    if (!(await this.#isMine())) {
      return; // another core does it again
    }
    const entry = { ...toRow(written), day, mark: null, at: new Date(clock.now()) };
    const mark = await new ArchiveReader(place).compare(entry); // before anything that it has leaves the books
    const archive: ReceiptArchive = place.hasLastingMarks ? { ...entry, mark } : entry;
    await this.#sealed(async (em) => {
      await em.insert(ReceiptArchive, archive);
      await mustBeWhole(em, archive);
      await note(em, archive);
    });
    logger.info({ ...archive }, "the receipts of a day were archived");
  }

  /**
   * Runs a transaction while no charge is being stored, so that each charge is either counted in it or finds its
   * archive. It gives way to whatever keeps the table for long, and tries again.
   */
  async #sealed(run: (em: SqlEntityManager) => Promise<void>): Promise<void> {
    const { storage } = this.#parts;
    const pace = this.#pacer();
    for (let attempt = 1; ; attempt++) {
      try {
        return await inTransaction(storage, async (em) => {
          if (storage.dialect === "postgresql") {
            await em.execute(`set local lock_timeout = ${lockMsOf(attempt)}`);
            await em.execute("lock table usage in share mode");
          }
          await run(em);
        });
      } catch (error) {
        if (attempt === lockTries || !isLockTimeout(error)) {
          throw error;
        }
        await pace();
      }
    }
  }

  /** Removes receipts that are in archives, in steps that grow with the backlog on SQLite. */
  async #removeArchived(): Promise<void> {
    const { storage, store, observer, clock } = this.#parts;
    if ((await readKeptFrom(storage)) === 0) {
      return;
    }
    const size = storage.dialect === "sqlite" ? new StepSize(mostStepMs) : undefined;
    const pace = this.#pacer();
    while (await this.#isMine()) {
      const began = clock.monotonic();
      const removed = await store.removeReceipts(size?.rows ?? stepRows);
      size?.took(removed, clock.monotonic() - began);
      observer.removed(removed);
      if (removed === 0) {
        return;
      }
      await pace();
    }
  }

  /** Leaves time to other work between steps. Throws when the work was ended. */
  #pacer(): () => Promise<void> {
    const pace = pacer(this.#parts.clock, shareLeft(this.#overdueMs));
    return async () => {
      await pace();
      if (this.#ended) {
        throw new Error("the core ends");
      }
    };
  }
}

/**
 * Throws when a receipt of the day came while it was sealed or written. Both are then done anew. Each receipt is counted
 * with its charge, so that none has to be read while settlements wait.
 */
async function mustBeWhole(em: SqlEntityManager, { day, receipts, costHigh, costLow }: ReceiptArchive): Promise<void> {
  const [counted] = await em.execute<{ requests: string | number }[]>(
    `select coalesce((select sum(requests) from usage_tally where hour >= ? and hour < ?), 0)
       + coalesce((select sum(requests) from usage_rollup
         where account_id = '${allAccounts}' and span = 'day' and slot = ?), 0) as requests`,
    [day * 24, (day + 1) * 24, day],
  );
  const stored = Number(counted?.requests);
  if (stored !== receipts) {
    throw new Error(`${stored} receipts of a day are in the books, and its archive has ${receipts}`);
  }
  const [seal] = await em.find(DaySeal, { day }, { orderBy: { number: "desc" }, limit: 1 });
  if (seal?.receipts !== receipts || seal.costHigh !== costHigh || seal.costLow !== costLow) {
    throw new Error(`the seal of a day has ${seal?.receipts} receipts, and its archive ${receipts}`);
  }
}

/** Whether a lock could not be had in time. The ORM's errors carry the driver's code or cause. */
function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && (("code" in error && error.code === lockTimeout) || isLockTimeout(error.cause));
}

function toRow({ file, receipts, costHigh, costLow, bytes, sha256 }: WrittenArchive) {
  return { file, receipts, costHigh, costLow, bytes, sha256 };
}
