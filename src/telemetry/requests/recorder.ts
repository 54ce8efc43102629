import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { dayMs } from "#lib/time/days.ts";
import { repeat } from "#lib/time/repeat.ts";
import type { RefusedRequest, RequestStore } from "#src/money/model/store/request.ts";
import type { EndedCall } from "#src/wire/interceptors/observation/observe.ts";
import { type StatusOf, toRefused } from "./refused.ts";
import { Sampling } from "./sampling.ts";

/** Why a refused request is not in the record: like ones were enough, too many waited, or the database took none. */
export const dropReasons = ["sampled", "full", "store"] as const;
export type DropReason = (typeof dropReasons)[number];

export interface Dependencies {
  readonly store: RequestStore;
  readonly statusOf: StatusOf;
  /** How long requests are recorded, in days, and how many at most. */
  readonly keepDays: number;
  readonly most: number;
  readonly dropped: (reason: DropReason, count: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A group is small, so that the store has time for money between two of them. */
const mostInGroup = 200;
const pauseMs = 250;
/** More than wait are dropped. */
const mostWaiting = 2000;
/** A group that the store refuses so often, for ten minutes where it says so at once, is dropped. */
const mostTries = 2400;
/** Old ones leave even while nothing is refused. */
const idleLooks = 2400;

/** Records refused requests: in groups and off their way. Few wait for a store that is away, and nobody waits for them. */
export class RequestRecorder {
  readonly #parts: Dependencies;
  readonly #sampling: Sampling;
  #waiting: RefusedRequest[] = [];
  #idle = 0;
  #tries = 0;

  constructor(parts: Dependencies) {
    this.#parts = parts;
    this.#sampling = new Sampling(
      parts.clock,
      (request) => this.#add(request),
      () => parts.dropped("sampled", 1),
    );
  }

  /** Takes note of a call that is over. */
  readonly observe = (call: EndedCall): void => {
    const refused = toRefused(call, this.#parts.statusOf, this.#parts.clock.now());
    if (refused !== undefined) {
      this.#sampling.add(refused, call.caller?.address ?? "");
    }
  };

  /** Writes from now on. Returns the function that writes what waits and ends it. */
  start(): () => Promise<void> {
    const { clock, logger, dropped } = this.#parts;
    const stop = repeat(clock, pauseMs, logger, "record refused requests", async () => {
      await this.write();
    });
    return async () => {
      stop();
      this.#sampling.close();
      while (this.#waiting.length > 0) {
        if (!(await this.write())) {
          dropped("store", this.#waiting.splice(0).length);
        }
      }
    };
  }

  /** Writes one group. Returns whether the store took it: if not, it waits again. */
  async write(): Promise<boolean> {
    const group = this.#waiting.splice(0, mostInGroup);
    if (group.length === 0 && this.#idle++ % idleLooks !== 0) {
      return true;
    }
    const { store, keepDays, most, clock } = this.#parts;
    try {
      await store.recordRequests(group, { before: clock.now() - keepDays * dayMs, most });
      this.#tries = 0;
      return true;
    } catch {
      this.#keep(group); // whoever is up at night has the database's own alarm
      return false;
    }
  }

  /** Has a group wait that the store did not take, as far as there is room. */
  #keep(group: readonly RefusedRequest[]): void {
    this.#tries += 1;
    const isHopeless = this.#tries >= mostTries;
    const kept = isHopeless ? [] : group.slice(0, mostWaiting - this.#waiting.length);
    if (isHopeless) {
      this.#tries = 0;
    }
    this.#waiting.unshift(...kept);
    this.#parts.dropped("store", group.length - kept.length);
  }

  #add(request: RefusedRequest): void {
    if (this.#waiting.length < mostWaiting) {
      this.#waiting.push(request);
    } else {
      this.#parts.dropped("full", 1);
    }
  }
}
