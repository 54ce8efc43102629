import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { repeat } from "#lib/time/repeat.ts";
import type { Storage } from "./storage.ts";

/** Clocks further apart than this cannot all be right. */
const mostApartMs = 60_000;
/** A jump forward that lasts this long is believed: the time before it was wrong. */
const believedAfterMs = 3_600_000;
const measureMs = 5000;

/** A clock that tells whether it may be trusted with changes that cannot be undone. */
export interface JudgedClock extends Clock {
  /** Reads the clocks anew. Rejects when the database cannot be asked. */
  measure(): Promise<void>;
  /** Whether the database's clock, this machine's clock and the time measured since the start agree. */
  readonly agrees: boolean;
}

/**
 * The database's time, which is the same for all cores, continued between two reads by this machine's monotonic clock.
 * So a core whose own clock is wrong lets no money and no key lapse. With SQLite it is the machine's own time.
 *
 * A jump forward of either clock is not followed for an hour: it would let things lapse that cannot come back. A jump
 * back is followed at once.
 */
export class DatabaseClock implements JudgedClock {
  readonly #storage: Storage;
  readonly #machine: Clock;
  readonly #logger: Logger;
  /** This time less the monotonic clock's. */
  #offset: number;
  /** How far the database's clock was ahead of this one when it was last read. */
  #ahead = 0;
  /** Since when it has been too far ahead, by the monotonic clock. */
  #aheadSince: number | undefined;
  #agreed = true;

  private constructor(storage: Storage, machine: Clock, logger: Logger) {
    this.#storage = storage;
    this.#machine = machine;
    this.#logger = logger;
    this.#offset = machine.now() - machine.monotonic();
  }

  /** Reads the database's clock for the first time, when there is nothing yet that it could have jumped from. */
  static async open(storage: Storage, machine: Clock, logger: Logger): Promise<DatabaseClock> {
    const clock = new DatabaseClock(storage, machine, logger);
    clock.#offset = await clock.#read();
    clock.#judge();
    return clock;
  }

  /** This machine's own clock. */
  get machine(): Clock {
    return this.#machine;
  }

  now(): number {
    return Math.floor(this.#machine.monotonic() + this.#offset);
  }

  monotonic(): number {
    return this.#machine.monotonic();
  }

  after(ms: number, callback: () => void): () => void {
    return this.#machine.after(ms, callback);
  }

  /** Milliseconds by which the database's clock or this machine's is ahead of this one, whichever is further away. */
  get apart(): number {
    const machine = this.#machine.now() - this.now();
    return Math.abs(machine) > Math.abs(this.#ahead) ? machine : this.#ahead;
  }

  get agrees(): boolean {
    return Math.abs(this.apart) <= mostApartMs;
  }

  async measure(): Promise<void> {
    const offset = await this.#read();
    this.#ahead = offset - this.#offset;
    if (this.#ahead <= mostApartMs) {
      this.#aheadSince = undefined;
    } else {
      this.#aheadSince ??= this.monotonic();
    }
    const believed = this.#aheadSince === undefined || this.monotonic() - this.#aheadSince >= believedAfterMs;
    if (believed) {
      this.#offset = offset;
      this.#ahead = 0;
      this.#aheadSince = undefined;
    }
    this.#judge();
  }

  /** Reads the clock at an interval. Returns the function that ends it. */
  keepMeasuring(): () => void {
    return repeat(this.#machine, measureMs, this.#logger, "ask the database for its time", () => this.measure());
  }

  /** The database's time less the monotonic clock's. The server is assumed to have read its clock halfway. */
  async #read(): Promise<number> {
    const storage = this.#storage;
    const asked = this.#machine.monotonic();
    if (storage.dialect === "sqlite") {
      return this.#machine.now() - asked;
    }
    const text = "select (extract(epoch from now()) * 1000)::float8 as now";
    const { rows } = await storage.pool.query<{ now: number }>(text);
    const [{ now } = { now: Number.NaN }] = rows;
    if (!Number.isFinite(now)) {
      throw new Error("the database did not tell its time");
    }
    return Math.round(now - (asked + this.#machine.monotonic()) / 2);
  }

  #judge(): void {
    if (this.agrees === this.#agreed) {
      return;
    }
    this.#agreed = this.agrees;
    const seconds = Math.round(this.apart / 1000);
    if (this.#agreed) {
      this.#logger.info({ seconds }, "the clocks agree again");
    } else {
      this.#logger.error({ seconds }, "the clocks of this core and its database disagree");
    }
  }
}
