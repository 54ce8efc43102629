import type { Clock } from "#lib/time/clock.ts";
import { type Linked, LinkedList } from "#lib/workarounds/linked-list.ts";

/** Milliseconds that a body may take whatever its pace. */
const graceMs = 10_000;
/** Milliseconds between two checks. */
const intervalMs = 1_000;

/** A body that is being received. */
export interface PacedBody extends Linked<PacedBody> {
  /** Bytes received so far. */
  readonly received: number;
  /** When it began, on the monotonic clock. */
  readonly begunAt: number;
  /** Called when the body arrives too slowly. */
  giveUp(): void;
}

/** Gives up bodies that arrive too slowly. One timer checks all of them, and stops while there are none. */
export class BodyPace {
  /** Bytes a second at which a body has to arrive after the grace period, on average. */
  readonly bytesPerSecond: number;
  readonly #bodies = new LinkedList<PacedBody>();
  readonly #clock: Clock;
  #isLooking = false;

  constructor(clock: Clock, bytesPerSecond: number) {
    this.#clock = clock;
    this.bytesPerSecond = bytesPerSecond;
  }

  /** Watches a body until it is deleted. */
  add(body: PacedBody): void {
    this.#bodies.add(body);
    if (this.#isLooking) {
      return;
    }
    this.#isLooking = true;
    this.#lookLater();
  }

  delete(body: PacedBody): void {
    this.#bodies.delete(body);
  }

  #lookLater(): void {
    this.#clock.after(intervalMs, () => {
      const now = this.#clock.monotonic();
      for (const body of this.#bodies.toArray()) {
        if (this.#isSlow(body, now)) {
          body.giveUp();
        }
      }
      this.#isLooking = this.#bodies.size > 0;
      if (this.#isLooking) {
        this.#lookLater();
      }
    });
  }

  #isSlow({ received, begunAt }: PacedBody, now: number): boolean {
    return received < ((now - begunAt - graceMs) / 1000) * this.bytesPerSecond;
  }
}
