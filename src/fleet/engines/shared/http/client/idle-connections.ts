import type { Clock } from "#lib/time/clock.ts";
import type { Carried, Connection } from "./connection.ts";

/** Milliseconds. Less than engines keep idle connections (5 s): otherwise a call may meet one that is closing. */
const usualIdleMs = 3000;
/**
 * The longest time to keep an idle connection where the server promises more, and the margin before the promise ends,
 * in milliseconds.
 */
const longestIdleMs = 60_000;
const idleMarginMs = 2000;

/** A connection without a call. */
interface Idle<C extends Carried> {
  readonly connection: Connection<C>;
  /** On the monotonic clock. */
  readonly until: number;
}

/**
 * The connections of a pool that wait for a call, for as long as their servers keep them. The one that has been idle longest
 * is first, and is used first: the last one may be about to be closed.
 */
export class IdleConnections<C extends Carried> {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #idle: Idle<C>[] = [];

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  get length(): number {
    return this.#idle.length;
  }

  /** `promisedSeconds`: how long the server says that it keeps the connection. Undefined: it says nothing. */
  keep(connection: Connection<C>, promisedSeconds: number | undefined): void {
    const idleMs =
      promisedSeconds === undefined ? usualIdleMs : Math.min(longestIdleMs, promisedSeconds * 1000 - idleMarginMs);
    this.#idle.push({ connection, until: this.#clock.monotonic() + idleMs });
  }

  /** Takes out one that its server still keeps. Undefined: there is none. */
  take(): Connection<C> | undefined {
    for (let idle = this.#idle.shift(); idle !== undefined; idle = this.#idle.shift()) {
      if (idle.until > this.#clock.monotonic()) {
        return idle.connection;
      }
      idle.connection.destroy();
    }
    return undefined;
  }

  /** Forgets one that has closed. */
  delete(connection: Connection<C>): void {
    const index = this.#idle.findIndex((idle) => idle.connection === connection);
    if (index !== -1) {
      this.#idle.splice(index, 1);
    }
  }

  /** Closes those that their servers may be about to close. */
  closeOld(): void {
    const now = this.#clock.monotonic();
    for (const { connection, until } of [...this.#idle]) {
      if (until <= now) {
        connection.destroy();
      }
    }
  }
}
