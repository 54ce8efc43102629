import type { Seal } from "#lib/ids/sealed.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { repeat } from "#lib/time/repeat.ts";
import type { Delivery, Webhook } from "#src/storage/entities/event.ts";
import { endingWork, type WorkLease } from "#src/storage/work-lease.ts";
import { nextTurn } from "./batches.ts";
import type { Outbox } from "./outbox.ts";
import { Places } from "./places.ts";
import type { Attempt, Send } from "./send.ts";
import { signedHeaders } from "./signature.ts";

const pollMs = 1000;
const purgeMs = 3_600_000;
/** The most deliveries started in one turn of the event loop. To read and sign so many takes some milliseconds. */
const dueAtOnce = 8;

/** Observes deliveries. */
export interface DeliveryObserver {
  /** delivered; retried: it will be tried again; failed: given up after three days. */
  attempted(outcome: "delivered" | "retried" | "failed"): void;
  /** Deliveries that wait, and the age of the oldest in milliseconds. */
  backlog(waiting: number, oldestMs: number): void;
}

interface Dependencies {
  readonly outbox: Outbox;
  readonly lease: Pick<WorkLease, "hold" | "release">;
  readonly send: Send;
  readonly seal: Pick<Seal, "open">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: DeliveryObserver;
}

/** Sends events to the endpoints that subscribed to them while this core has the lease. */
export class Dispatcher {
  readonly #parts: Dependencies;
  readonly #places = new Places();
  /**
   * One set for each query for due deliveries that has no answer yet: the ids of deliveries that ended since it was
   * sent.
   */
  readonly #endedSince = new Set<Set<string>>();
  #stops: readonly (() => void)[] = [];
  #stopped = false;
  /**
   * Whether a search for deliveries to start in freed places runs, and whether more deliveries ended since it began.
   */
  #looking = false;
  #looksAgain = false;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Requests under way. */
  get underway(): number {
    return this.#places.count;
  }

  /** Starts the work. */
  start(): void {
    const { clock, logger } = this.#parts;
    this.#stops = [
      repeat(clock, pollMs, logger, "deliver events", () => this.turn()),
      repeat(clock, purgeMs, logger, "drop old events", () => this.purge()),
    ];
  }

  /** Makes deliveries of new events and starts the due ones. */
  async turn(): Promise<void> {
    const { outbox, lease, observer } = this.#parts;
    if (this.#stopped || !(await lease.hold())) {
      return;
    }
    await outbox.spread();
    await this.#startDue();
    const { waiting, oldestMs } = await outbox.backlog();
    observer.backlog(waiting, oldestMs);
  }

  /** Drops old events and gives up their deliveries that are still pending. */
  async purge(): Promise<void> {
    const { outbox, lease, logger, observer } = this.#parts;
    const givenUp = (await lease.hold()) ? await outbox.purge() : 0;
    for (let count = 0; count < givenUp; count++) {
      observer.attempted("failed");
    }
    if (givenUp > 0) {
      logger.error({ givenUp }, "deliveries were given up: their endpoints have taken nothing for 30 days");
    }
  }

  /** Ends the work without waiting for requests under way: the core that takes over sends them again. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await endingWork(this.#parts.lease, this.#stops)();
  }

  async #startDue(): Promise<void> {
    for (let isMore = true; isMore && this.#places.room > 0; ) {
      const limit = Math.min(this.#places.room, dueAtOnce);
      const due = await this.#readDue(limit);
      if (this.#stopped) {
        return; // another core may send them by now
      }
      const started = due.filter((delivery) => this.#places.take(delivery));
      for (const delivery of started) {
        void this.#deliver(delivery);
      }
      isMore = due.length === limit && started.length > 0; // others may wait behind those of full endpoints
      await nextTurn();
    }
  }

  /** Reads due deliveries without those that ended meanwhile: an answer from before their end would send them again. */
  async #readDue(limit: number): Promise<Delivery[]> {
    const ended = new Set<string>();
    this.#endedSince.add(ended);
    try {
      const due = await this.#parts.outbox.due(this.#places.full, limit, this.#places.ids);
      return due.filter(({ id }) => !ended.has(id));
    } finally {
      this.#endedSince.delete(ended);
    }
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { outbox, clock, logger, observer } = this.#parts;
    const startedAt = new Date(clock.now());
    let isOver = false;
    let works = false;
    try {
      const attempt = await this.#attempt(delivery);
      works = attempt?.ok ?? false;
      const status = attempt && (await outbox.finish(delivery, startedAt, attempt));
      if (status !== undefined) {
        observer.attempted(status === "pending" ? "retried" : status);
      }
      if (status === "failed") {
        const { id, webhookId, type } = delivery;
        logger.error({ id, webhookId, type, error: attempt?.error }, "an event was not delivered in three days");
      }
      isOver = status !== "pending";
    } catch (error) {
      logger.error({ error, id: delivery.id }, "the outcome of a delivery was not written: it is sent again");
    } finally {
      this.#leave(delivery, works);
    }
    if (isOver) {
      await this.#goOn().catch(() => {}); // the next turn tries again
    }
  }

  /** Starts deliveries in the places that ended ones left, unless another core has the lease by now. */
  async #goOn(): Promise<void> {
    this.#looksAgain = true;
    if (this.#looking) {
      return;
    }
    this.#looking = true;
    try {
      while (this.#looksAgain && !this.#stopped && (await this.#parts.lease.hold())) {
        this.#looksAgain = false;
        await this.#startDue();
      }
    } finally {
      this.#looking = false;
    }
  }

  #leave(delivery: Delivery, works: boolean): void {
    this.#places.leave(delivery, works);
    for (const ended of this.#endedSince) {
      ended.add(delivery.id);
    }
  }

  async #attempt(delivery: Delivery): Promise<Attempt | undefined> {
    const { outbox, send, clock } = this.#parts;
    const found = await outbox.read(delivery);
    if (found === undefined) {
      return undefined;
    }
    const { webhook, event } = found;
    if (event === undefined) {
      return { ok: false, error: "the event is not kept any more" };
    }
    const now = clock.now();
    try {
      const headers = signedHeaders(event.id, Math.floor(now / 1000), event.body, this.#secretsOf(webhook, now));
      return await send(webhook.url, headers, event.body);
    } catch (error) {
      return { ok: false, error: error instanceof Error ? error.message : String(error) };
    }
  }

  #secretsOf({ secret, previousSecret, previousUntil }: Webhook, now: number): string[] {
    const { seal } = this.#parts;
    const still = previousSecret && previousUntil && previousUntil.getTime() > now ? [previousSecret] : [];
    return [secret, ...still].map((sealed) => seal.open(sealed));
  }
}
