import type { Random } from "#lib/ids/random.ts";
import type { Clock } from "#lib/time/clock.ts";

/** The longest wait for a turn, in milliseconds: so many for each other core, up to the maximum. */
const msPerCore = 30;
const mostMs = 100;

/**
 * Decides when this core's waiting requests may go to a server on which another core has freed room. All cores learn of
 * the room at the same moment and do not know each other's choices: without a delay, each would send a request to the
 * one place. So each core waits a random time, and sees what the cores before it have taken.
 */
export class Turns {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #come: (server: string) => void;
  #servers = new Set<string>();
  #cancel: (() => void) | undefined;

  /** `come` is called with each server whose room this core may have now. */
  constructor(clock: Clock, random: Random, come: (server: string) => void) {
    this.#clock = clock;
    this.#random = random;
    this.#come = come;
  }

  /** Waits for this core's turn to use room on a server, among `others` other cores. */
  await(server: string, others: number): void {
    this.#servers.add(server);
    this.#cancel ??= this.#clock.after(Math.min(mostMs, msPerCore * others) * this.#random.fraction(), () => {
      const servers = this.#servers;
      this.#servers = new Set();
      this.#cancel = undefined;
      for (const one of servers) {
        this.#come(one);
      }
    });
  }

  close(): void {
    this.#cancel?.();
  }
}
