import type { Outage } from "#lib/errors/outage.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { Turns } from "#lib/time/turns.ts";
import type { Announcements } from "../../model/announcements.ts";
import type { PicoUsd } from "../../model/interface.ts";
import { unavailable } from "../../model/unavailable.ts";
import { callInMs, lookAgainMs } from "./intervals.ts";

/** Money of which this core has leased a part: an account's, or that of one window of a budget. */
export interface LeasedMoney {
  readonly accountId: string;
  /** The money that a new request may hold. */
  readonly free: PicoUsd;
  /** The money that no core had leased when this core last looked. */
  readonly unleased: bigint | PicoUsd;
  /** The money that other cores had leased and not spent at that time. */
  readonly elsewhere: bigint | PicoUsd;
}

/** How one kind of money is leased. */
export interface RefillSource {
  /** True when the store may get more of the money without this core's knowledge. */
  readonly growsUnheard: boolean;
  /** The amount to lease when the store has plenty. Called once for each look. */
  wish(least: PicoUsd): PicoUsd;
  /**
   * Finds out, before more is leased, what became of moves whose reply was lost. Does nothing when no reply was lost.
   */
  clear(): Promise<void>;
  /** Leases at least `least` if the store has it, and `most` if it has plenty. Returns whether any money came. */
  lease(least: PicoUsd, most: PicoUsd): Promise<boolean>;
  /** Called when the reply to a move was lost, so that nobody knows whether the money moved. */
  lost(): void;
}

interface Dependencies {
  readonly announcements: Announcements;
  /** Tells that the store cannot be asked. */
  readonly outage: Outage;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Keeps one piece of leased money filled. When the money runs short, one look into the store serves everybody who lacks
 * some; when the store has none left, the other cores are asked. Money moves in the store one move at a time. A refill
 * knows when a look cannot find anything, so a request that lacks money is refused from memory.
 *
 * FRESH ── a change is heard of, money is known to be unleased, or 250 ms pass where cores share ──▶ STALE
 * STALE ── a request lacks money ──▶ LOOKING ── the store answered ──▶ FRESH; ── no reply ──▶ IN DOUBT
 * IN DOUBT ── the next look, which first finds out what became of the move ──▶ LOOKING
 */
export class Refill {
  readonly #money: LeasedMoney;
  readonly #source: RefillSource;
  readonly #parts: Dependencies;
  readonly #turns = new Turns();
  /** The look that is under way. Undefined: none is. */
  #looking: Promise<boolean> | undefined;
  /** True when the money may have changed since it was looked at. */
  #stale = true;
  /** When the money was last looked at, last used, and last called in from other cores, by the monotonic clock. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #usedAt = 0;
  #calledInAt = Number.NEGATIVE_INFINITY;

  constructor(money: LeasedMoney, source: RefillSource, parts: Dependencies) {
    this.#money = money;
    this.#source = source;
    this.#parts = parts;
  }

  /** Set while the store moves the money; never rejects. */
  get moving(): Promise<void> | undefined {
    return this.#turns.running;
  }

  /** The look that is under way. Undefined: none is. */
  get looking(): Promise<boolean> | undefined {
    return this.#looking;
  }

  /** True when the store neither moves the money nor is about to. */
  get idle(): boolean {
    return this.#looking === undefined && this.#turns.running === undefined;
  }

  /** Milliseconds since it was last used. */
  get sinceUse(): number {
    return this.#parts.clock.monotonic() - this.#usedAt;
  }

  /** Milliseconds since it was last looked at. */
  get sinceLook(): number {
    return this.#parts.clock.monotonic() - this.#lookedAt;
  }

  used(): void {
    this.#usedAt = this.#parts.clock.monotonic();
  }

  /** Notes that the money has changed, or may have: the next request that lacks some looks. */
  doubt(): void {
    this.#stale = true;
  }

  /**
   * Leases at least this much more, if the store has it, and asks the other cores for what is still lacking. Returns
   * whether there may be more than before. Throws LEDGER_UNAVAILABLE.
   */
  async lease(least: PicoUsd): Promise<boolean> {
    if (this.#looking !== undefined) {
      await this.#looking;
      return true;
    }
    if (!this.#mayFind) {
      return false;
    }
    const wanted = this.#money.free + least;
    const found = await this.look(least);
    if (this.#money.free < wanted && this.#money.elsewhere > 0) {
      this.#callIn();
    }
    return found;
  }

  get #mayFind(): boolean {
    return this.#stale || this.#money.unleased > 0 || (this.#source.growsUnheard && this.sinceLook >= lookAgainMs);
  }

  /**
   * Looks once for everybody who asks meanwhile. Call it only while no look is under way. Throws LEDGER_UNAVAILABLE.
   */
  look(least: PicoUsd, most = this.#source.wish(least)): Promise<boolean> {
    const looking = this.alone(() => this.#lookOnce(least, most)).finally(() => {
      this.#looking = undefined;
    });
    this.#looking = looking;
    return looking;
  }

  async #lookOnce(least: PicoUsd, most: PicoUsd): Promise<boolean> {
    await this.#source.clear();
    this.#stale = false;
    this.#lookedAt = this.#parts.clock.monotonic();
    return this.#source.lease(least, most);
  }

  /**
   * Asks the other cores to give back money that no request holds. A core that misses this gives it back when it lies
   * unused.
   */
  #callIn(): void {
    const { announcements, clock } = this.#parts;
    if (clock.monotonic() - this.#calledInAt >= callInMs) {
      this.#calledInAt = clock.monotonic();
      this.inBackground(announcements.announce(this.#money.accountId), "the other cores could not be asked for money");
    }
  }

  /** Runs a function while nothing else moves the money in the store. */
  alone<T>(run: () => Promise<T>): Promise<T> {
    return this.#turns.take(run);
  }

  /**
   * Has the store move the money; never two calls at a time. After a failure nobody knows whether it moved. Throws
   * LEDGER_UNAVAILABLE.
   */
  async move<T>(run: () => Promise<T>): Promise<T> {
    try {
      const answer = await this.ask(run);
      this.#parts.outage.succeeded();
      return answer;
    } catch (error) {
      this.#source.lost();
      this.#stale = true;
      throw error;
    }
  }

  /** Asks the store something that moves none of this core's money. Throws LEDGER_UNAVAILABLE. */
  async ask<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      this.#parts.outage.failed(error);
      throw unavailable("The ledger cannot be reached at the moment.", error);
    }
  }

  /** Continues work that nobody waits for. Logs the message when it fails. */
  inBackground(work: Promise<unknown>, message: string): void {
    work.catch((error: unknown) => this.#parts.logger.warn({ error }, message));
  }
}
