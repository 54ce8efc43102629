import type { Random } from "#lib/ids/random.ts";
import type { Clock } from "#lib/time/clock.ts";
import { WorkLease as Row } from "./entities/event.ts";
import type { Storage } from "./storage.ts";
import { inTransaction } from "./transaction.ts";

const leaseMs = 15_000;
const renewMs = 5_000;

/**
 * Lets one core at a time do some work for all. When a core ends without a word, another takes over within 15 seconds.
 */
export class WorkLease {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #name: string;
  readonly #holder: string;
  #heldAt = Number.NEGATIVE_INFINITY;

  constructor(parts: { storage: Storage; clock: Clock; random: Random; name: string }) {
    this.#storage = parts.storage;
    this.#clock = parts.clock;
    this.#name = parts.name;
    this.#holder = parts.random.uuid();
  }

  /** Whether this core has the work. Asks the store when the last answer is not fresh. */
  async hold(): Promise<boolean> {
    const asked = this.#clock.monotonic();
    if (asked - this.#heldAt < renewMs) {
      return true;
    }
    const now = new Date(this.#clock.now());
    const until = new Date(now.getTime() + leaseMs);
    const held = await inTransaction(this.#storage, async (em) => {
      const lease = { name: this.#name, holder: this.#holder, until };
      await em.upsert(Row, { ...lease, until: new Date(0) }, { onConflictAction: "ignore" });
      const free = { name: this.#name, $or: [{ holder: this.#holder }, { until: { $lt: now } }] };
      return (await em.nativeUpdate(Row, free, { holder: this.#holder, until })) > 0;
    });
    this.#heldAt = held ? asked : Number.NEGATIVE_INFINITY;
    return held;
  }

  /** Lets another core take over at once. */
  async release(): Promise<void> {
    this.#heldAt = Number.NEGATIVE_INFINITY;
    const own = { name: this.#name, holder: this.#holder };
    await inTransaction(this.#storage, (em) => em.nativeUpdate(Row, own, { until: new Date(0) }));
  }
}
