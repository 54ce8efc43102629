import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { dayMs } from "#lib/time/days.ts";
import { repeat } from "#lib/time/repeat.ts";
import { endingWork, type WorkLease, whileRenewing } from "#src/storage/work-lease.ts";
import type { Send } from "../webhooks/send.ts";
import { batchType, toCloudEvent } from "./cloud-event.ts";
import type { UsageOutbox } from "./usage-outbox.ts";

const pollMs = 1000;
const purgeMs = 3_600_000;
/** Receipts in one request: about 70 KB. */
const batchSize = 100;
/** Pauses after failed attempts, in milliseconds. The last one is used for all further attempts. */
const pausesMs = [2000, 5000, 15_000, 60_000] as const;

/** Observes usage events. */
export interface UsageEventsObserver {
  /** The receiver has taken this many events. */
  taken(events: number): void;
  /** The receiver did not take a batch; it is sent again. */
  refused(): void;
  /** This many events were dropped because the receiver did not take them in time. */
  dropped(events: number): void;
  /** Events that wait, and the age of the oldest in milliseconds. */
  backlog(waiting: number, oldestMs: number): void;
}

interface Dependencies {
  readonly outbox: UsageOutbox;
  /** Lets one core send for all. */
  readonly lease: Pick<WorkLease, "hold" | "release">;
  readonly send: Send;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: UsageEventsObserver;
  readonly url: string;
  readonly source: string;
  /** The bearer token. Undefined: requests have none. */
  readonly token: string | undefined;
  readonly keepDays: number;
}

/**
 * Sends receipts as CloudEvents, batch after batch, each until the receiver has taken it: at least once, oldest first,
 * and so in order for each account.
 */
export class UsageSender {
  readonly #parts: Dependencies;
  #failures = 0;
  /** No batch is sent before this time, by the monotonic clock. */
  #restsUntil = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Starts sending. Returns the function that ends it. Another core may send a batch that is under way again. */
  start(): () => Promise<void> {
    const { clock, logger, lease } = this.#parts;
    return endingWork(lease, [
      () => {
        this.#stopped = true;
      },
      repeat(clock, pollMs, logger, "send usage events", () => this.turn()),
      repeat(clock, purgeMs, logger, "drop old usage events", () => this.purge()),
    ]);
  }

  /** Sends all waiting events, unless it pauses after a failure. */
  async turn(): Promise<void> {
    const { outbox, lease, observer } = this.#parts;
    if (!(await lease.hold())) {
      return;
    }
    await whileRenewing(lease, this.#parts, "send usage events", () => this.#sendWaiting());
    const { waiting, oldestMs } = await outbox.backlog();
    observer.backlog(waiting, oldestMs);
  }

  async #sendWaiting(): Promise<void> {
    const { outbox, lease, observer, clock } = this.#parts;
    while (!this.#stopped && clock.monotonic() >= this.#restsUntil && (await lease.hold())) {
      const receipts = await outbox.next(batchSize);
      if (receipts.length === 0) {
        break;
      }
      if (await this.#sendBatch(receipts.map((usage) => toCloudEvent(usage, this.#parts.source)))) {
        await outbox.taken(receipts);
        observer.taken(receipts.length);
      }
    }
  }

  /** Drops events that the receiver has not taken for too long. */
  async purge(): Promise<void> {
    const { outbox, lease, clock, logger, observer, keepDays } = this.#parts;
    let dropped = 1;
    while (!this.#stopped && dropped > 0 && (await lease.hold())) {
      dropped = await outbox.drop(new Date(clock.now() - keepDays * dayMs));
      if (dropped > 0) {
        logger.error({ dropped }, "usage events were dropped: the receiver has not taken them for too long");
        observer.dropped(dropped);
      }
    }
  }

  async #sendBatch(events: readonly object[]): Promise<boolean> {
    const { url, token, send, clock, logger, observer } = this.#parts;
    const headers = {
      "content-type": batchType,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const { ok, error } = await send(url, headers, JSON.stringify(events));
    if (ok) {
      this.#failures = 0;
      return true;
    }
    const pauseMs = pausesMs[Math.min(this.#failures, pausesMs.length - 1)] ?? 0;
    this.#failures += 1;
    this.#restsUntil = clock.monotonic() + pauseMs;
    observer.refused();
    logger.warn({ error, events: events.length, pauseMs }, "the receiver of usage events did not take a batch");
    return false;
  }
}
