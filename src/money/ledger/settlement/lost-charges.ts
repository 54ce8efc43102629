import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { type Charge, withTold } from "../../model/charges/charge.ts";
import type { MeteringObserver } from "../../model/observer.ts";
import type { ChargeStore } from "../../model/store/charge.ts";
import type { Settler } from "./settler/settler.ts";

/** Stored charges are remembered for this long, and so many: how far an asynchronous standby may have been behind. */
const keptMs = 120_000;
const mostKept = 20_000;
/** The most runs in one query to the store. */
const askedAtOnce = 1000;
/**
 * After the database has changed hands, the old one may acknowledge charges for this long, in milliseconds: replies are late, and
 * connections to it stay open until they are used.
 */
const lateMs = 60_000;

interface Dependencies {
  readonly store: Pick<ChargeStore, "settled">;
  readonly settler: Pick<Settler, "remake">;
  /** The first moment whose receipts are all in the books, in milliseconds since the epoch. 0: all receipts are. */
  readonly readKeptFrom: () => Promise<number>;
  /** Counts how often the database changed hands. */
  readonly turns: () => number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: Pick<MeteringObserver, "putBack">;
}

interface Kept {
  readonly charge: Charge;
  readonly at: number;
}

/**
 * Makes charges again that the database had acknowledged and has lost, because a standby that lacked its last moments became
 * the primary. Each core remembers its own of the last two minutes; what is older, or was a dead core's, is not known.
 */
export class LostCharges {
  readonly #parts: Dependencies;
  /** By run, oldest first. */
  readonly #kept = new Map<string, Kept>();
  #turns: number;
  /** When to look once more, by the monotonic clock. Undefined: not before the database changes hands again. */
  #againAt: number | undefined;

  constructor(parts: Dependencies) {
    this.#parts = parts;
    this.#turns = parts.turns();
  }

  /** Remembers a charge that the store has acknowledged. */
  stored(charge: Charge): void {
    const now = this.#parts.clock.monotonic();
    this.#kept.delete(charge.runId);
    this.#kept.set(charge.runId, { charge: withTold(charge), at: now });
    for (const [runId, { at }] of this.#kept) {
      if (now - at < keptMs && this.#kept.size <= mostKept) {
        return;
      }
      this.#kept.delete(runId);
    }
  }

  /**
   * Looks for lost charges when the database has changed hands since the last look, and once more when the old one
   * acknowledges nothing any more. Returns whether it has looked.
   */
  async look(): Promise<boolean> {
    const turns = this.#parts.turns();
    const now = this.#parts.clock.monotonic();
    const isNew = turns !== this.#turns;
    if (!isNew && (this.#againAt === undefined || now < this.#againAt)) {
      return false;
    }
    await this.#putBack();
    this.#turns = turns;
    this.#againAt = isNew ? now + lateMs : undefined;
    return true;
  }

  /** Looks because the database may have changed hands unseen, and once more when an old one acknowledges nothing any more. */
  async doubt(): Promise<void> {
    const now = this.#parts.clock.monotonic();
    await this.#putBack();
    this.#againAt = now + lateMs;
  }

  /**
   * Makes the remembered charges again that the store does not have. Those of days that have left the books by now, as when
   * the machine slept for long, are in archives and not lost. Rejects while the store does not answer.
   */
  async #putBack(): Promise<void> {
    const { store, settler, readKeptFrom, logger, observer } = this.#parts;
    const kept = [...this.#kept.values()].map(({ charge }) => charge);
    for (let at = 0; at < kept.length; at += askedAtOnce) {
      const asked = kept.slice(at, at + askedAtOnce);
      const known = await store.settled(asked);
      const keptFrom = await readKeptFrom(); // afterwards: what left before that question, left before this one
      const lost = asked.filter(({ runId, settledAt }) => !known.has(runId) && settledAt >= keptFrom);
      if (lost.length > 0) {
        const since = new Date(Math.min(...lost.map(({ settledAt }) => settledAt))).toISOString();
        const isAll = at === 0 && lost[0] === kept[0];
        const requests = lost.map(({ requestId }) => requestId);
        logger.error({ requests, since, olderAreUnknown: isAll }, "the database has lost charges: they are made again");
        observer.putBack(lost.length);
        await Promise.all(lost.map((charge) => settler.remake(charge, true)));
      }
    }
  }
}
