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
 * seem longer than the store thinks it is.
 */
export class CoreLease {
  readonly #store: CoreStore & Pick<Announcements, "shared">;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #watch = new CoreWatch();
  #lastBeat = Number.NEGATIVE_INFINITY;
  #lastTry = Number.NEGATIVE_INFINITY;

  constructor(parts: { store: CoreStore & Pick<Announcements, "shared">; clock: Clock; logger: Logger }) {
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
  }

  /** Whether this core's slices certainly belong to it. */
  get isValid(): boolean {
    return !this.#store.shared || this.#clock.monotonic() - this.#lastBeat < deadAfterMs - marginMs;
  }

  /**
   * Sends a heartbeat when one is due. Returns false when the core has just come back after so long that others have
   * taken its slices, or may have. While no heartbeat succeeds this is unknown, and no request is admitted.
   */
  async renew(): Promise<boolean> {
    const now = this.#clock.monotonic();
    const held = this.isValid;
    if (!this.#store.shared || (held && now - this.#lastTry < beatMs)) {
      return true;
    }
    this.#lastTry = now;
    try {
      const { others, wasDead } = await this.#store.heartbeat();
      this.#lastBeat = now;
      await this.#reap(this.#watch.look(others, now, this.#clock.monotonic()));
      return held && !wasDead;
    } catch (error) {
      this.#logger.error({ error }, "this core could not say that it is alive");
      return true;
    }
  }

  async #reap(dead: readonly CoreBeat[]): Promise<void> {
    try {
      const slices = await this.#store.reap(dead);
      if (slices > 0) {
        this.#logger.warn({ slices }, "gave back what dead cores had leased");
      }
    } catch (error) {
      this.#logger.error({ error }, "what dead cores had leased could not be given back");
    }
  }
}
