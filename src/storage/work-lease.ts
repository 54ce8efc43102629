import type { Random } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { repeat } from "#lib/time/repeat.ts";
import { WorkLease as Row } from "./entities/event.ts";
import type { Storage } from "./storage.ts";
import { inTransaction } from "./transaction.ts";

const leaseMs = 15_000;
const renewMs = 5_000;

/** `machine`: the machine's wall clock. Absent: the clock's time is. */
type LeaseClock = Clock & { readonly machine?: Pick<Clock, "now"> };

/** A renewal of another core's, and when it was first seen, by the monotonic clock. */
interface Seen {
  readonly holder: string;
  readonly until: Date;
  readonly at: number;
}

/**
 * Lets one core at a time do some work for all. When a core ends without a word, another takes over within 15 seconds:
 * at the lease's end, or once it has seen no renewal for as long, because the end is the time of a clock, and the
 * holder's may have been an hour ahead, or this core's may be an hour behind. Between two questions the holder counts by the
 * monotonic clock and by the machine's wall clock: the first stands still while the machine is suspended.
 */
export class WorkLease {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #machine: Pick<Clock, "now">;
  readonly #name: string;
  readonly #holder: string;
  /** When the answer was asked for, by the monotonic clock and by the machine's wall clock. */
  #heldAt = Number.NEGATIVE_INFINITY;
  #heldWallAt = Number.NEGATIVE_INFINITY;
  #releasedAt = Number.NEGATIVE_INFINITY;
  #seen: Seen | undefined;
  /** The last question to the store. */
  #asking: Promise<unknown> = Promise.resolve();

  constructor(parts: { storage: Storage; clock: LeaseClock; random: Random; name: string }) {
    this.#storage = parts.storage;
    this.#clock = parts.clock;
    this.#machine = parts.clock.machine ?? parts.clock;
    this.#name = parts.name;
    this.#holder = parts.random.uuid();
  }

  /** Whether this core has the work. Asks the store when the last answer is not fresh. */
  async hold(): Promise<boolean> {
    const asked = this.#clock.monotonic();
    const at = this.#machine.now();
    if (asked - this.#heldAt < renewMs && at - this.#heldWallAt < renewMs) {
      return true;
    }
    if (asked - this.#releasedAt < renewMs) {
      return false; // work that was under way at the release must not take it from whoever comes next
    }
    const taking = this.#take(asked);
    this.#asking = taking.catch(() => {});
    const held = await taking;
    this.#heldAt = held ? asked : Number.NEGATIVE_INFINITY;
    this.#heldWallAt = at;
    return held;
  }

  #take(asked: number): Promise<boolean> {
    const now = new Date(this.#clock.now());
    const until = new Date(now.getTime() + leaseMs);
    return inTransaction(this.#storage, async (em) => {
      const lease = { name: this.#name, holder: this.#holder, until };
      await em.upsert(Row, { ...lease, until: new Date(0) }, { onConflictAction: "ignore" });
      const free = [{ holder: this.#holder }, { until: { $lt: now } }, ...this.#ended(asked)];
      const where = { name: this.#name, $or: free };
      const isMine = (await em.nativeUpdate(Row, where, { holder: this.#holder, until })) > 0;
      this.#see(isMine ? null : await em.findOne(Row, { name: this.#name }), asked);
      return isMine;
    });
  }

  /** The renewal that was the last one for the length of a lease. */
  #ended(now: number): Pick<Seen, "holder" | "until">[] {
    const seen = this.#seen;
    return seen === undefined || now - seen.at < leaseMs ? [] : [{ holder: seen.holder, until: seen.until }];
  }

  #see(row: Pick<Seen, "holder" | "until"> | null, at: number): void {
    const before = this.#seen;
    if (row === null) {
      this.#seen = undefined;
    } else if (before?.holder !== row.holder || before.until.getTime() !== row.until.getTime()) {
      this.#seen = { holder: row.holder, until: row.until, at };
    }
  }

  /** Lets another core take over at once. This one does not have the work again for some seconds. */
  async release(): Promise<void> {
    await this.#asking; // what it takes would come after this
    this.#heldAt = Number.NEGATIVE_INFINITY;
    this.#releasedAt = this.#clock.monotonic();
    const own = { name: this.#name, holder: this.#holder };
    await inTransaction(this.#storage, (em) => em.nativeUpdate(Row, own, { until: new Date(0) }));
  }
}

/** The function that ends work which is done again and again, by these functions, and lets another core take over at once. */
export function endingWork(lease: Pick<WorkLease, "release">, stops: readonly (() => void)[]): () => Promise<void> {
  return async () => {
    for (const stop of stops) {
      stop();
    }
    await lease.release();
  };
}

/** Renews a lease while work runs that may take longer than the lease lasts. `what`: the work, for the log. */
export async function whileRenewing<T>(
  lease: Pick<WorkLease, "hold">,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  const stop = repeat(clock, renewMs, logger, `keep the lease to ${what}`, () => lease.hold());
  try {
    return await work();
  } finally {
    stop();
  }
}
