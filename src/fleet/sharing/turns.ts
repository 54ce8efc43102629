import type { Random } from "../../../lib/ids/random.ts";
import type { Clock } from "../../../lib/time/clock.ts";

/** How long a core waits for its turn at most, in milliseconds: so long for each other core, and never longer than that. */
const msPerCore = 30;
const mostMs = 100;

/**
 * When this core's waiting requests may go to a server on which another core has made room. All cores hear of it in the same
 * moment, and none of the others' choices before they are made: at once, each would send a request to the one place. So
 * each waits for a time that it draws anew, and sees what those before it have taken.
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

  /** Waits for this core's turn, among so many others, to have room on a server. */
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
