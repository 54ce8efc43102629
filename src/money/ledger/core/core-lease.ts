import { Outage } from "#lib/errors/outage.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Announcements } from "../../model/announcements.ts";
import type { CoreStore } from "../../model/store/core.ts";
import { type CoreBeat, deadAfterMs } from "../../model/store/core.ts";
import { CoreWatch } from "./core-watch.ts";

/** The interval between heartbeats. */
const beatMs = 5000;
/** Safety margin: a core stops spending its slices this long before others may take it for dead. */
const marginMs = 5000;

/**
 * Keeps this core's slices its own where cores share a store, and cleans up after dead cores. A heartbeat counts from
 * the moment before it was sent, by the monotonic clock, so neither a slow network nor a changed clock makes the lease
 * seem longer than the store thinks it is. That clock stands still while the machine is suspended, so the lease also ends
 * by the machine's wall clock: a jump forward costs a heartbeat.
 *
 * CONFIRMED ── no heartbeat for 25 s ──▶ LAPSED ── a heartbeat is answered ──▶ DOUBTFUL ── losses are known ──▶ CONFIRMED
 * A core that others took for dead, or whose store went back, is DOUBTFUL at once. Only a CONFIRMED core spends.
 */
export class CoreLease {
  readonly #store: CoreStore & Pick<Announcements, "shared">;
  readonly #clock: Clock;
  readonly #machine: Pick<Clock, "now">;
  readonly #logger: Logger;
  readonly #beats: Outage;
  readonly #reaps: Outage;
  readonly #watch = new CoreWatch();
  /** When it was sent, by the monotonic clock and by the machine's wall clock. */
  #lastBeat = Number.NEGATIVE_INFINITY;
  #lastBeatAt = Number.NEGATIVE_INFINITY;
  #lastTry = Number.NEGATIVE_INFINITY;
  /** Counts how often its slices came into doubt, and up to which doubt its losses are known. */
  #doubts = 0;
  #confirmed = 0;

  constructor(parts: {
    store: CoreStore & Pick<Announcements, "shared">;
    clock: Clock;
    /** The machine's wall clock. Absent: the clock's time is. */
    machine?: Pick<Clock, "now"> | undefined;
    logger: Logger;
  }) {
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#machine = parts.machine ?? parts.clock;
    this.#logger = parts.logger;
    this.#beats = new Outage(
      parts,
      "this core could not say that it is alive",
      "this core can say that it is alive again",
    );
    this.#reaps = new Outage(
      parts,
      "what dead cores had leased could not be given back",
      "what dead cores had leased can be given back again",
    );
  }

  /** Whether this core's slices certainly belong to it, so that requests may spend them. */
  get isValid(): boolean {
    return !this.#store.shared || (this.#isAlive && !this.isDoubtful);
  }

  /** Whether the core is alive but has lost slices, or may have, and does not know which. */
  get isDoubtful(): boolean {
    return this.#confirmed < this.#doubts;
  }

  /** Whether no other core can have taken it for dead since its last answered heartbeat. */
  get #isAlive(): boolean {
    const aliveMs = deadAfterMs - marginMs;
    return this.#clock.monotonic() - this.#lastBeat < aliveMs && this.#machine.now() - this.#lastBeatAt < aliveMs;
  }

  /** Sends a heartbeat when one is due. While none succeeds, no request is admitted. */
  async renew(): Promise<void> {
    const now = this.#clock.monotonic();
    const at = this.#machine.now();
    const wasAlive = this.#isAlive;
    if (!this.#store.shared || (wasAlive && now - this.#lastTry < beatMs)) {
      return;
    }
    const isFirst = this.#lastTry === Number.NEGATIVE_INFINITY; // nothing was leased before
    this.#lastTry = now;
    try {
      const { others, wasDead } = await this.#store.heartbeat();
      if (wasDead || !(wasAlive || isFirst)) {
        this.#doubts++; // before it counts as alive
      }
      this.#lastBeat = now;
      this.#lastBeatAt = at;
      this.#beats.succeeded();
      await this.#reap(this.#watch.look(others, now, this.#clock.monotonic()));
    } catch (error) {
      this.#beats.failed(error);
    }
  }

  /** Has a doubtful core find out what it has lost. It is confirmed unless it came into doubt once more meanwhile. */
  async confirm(findLosses: () => Promise<unknown>): Promise<void> {
    const doubts = this.#doubts;
    if (this.#confirmed < doubts) {
      await findLosses();
      this.#confirmed = doubts;
    }
  }

  async #reap(dead: readonly CoreBeat[]): Promise<void> {
    try {
      const slices = await this.#store.reap(dead);
      this.#reaps.succeeded();
      if (slices > 0) {
        this.#logger.warn({ slices }, "gave back what dead cores had leased");
      }
    } catch (error) {
      this.#reaps.failed(error);
    }
  }
}
