import type { Clock } from "../../time/clock.ts";
import { type Rate, Turns } from "../counts/turns.ts";
import { type ConnectionLimits, mostOf, type Networks, widerTimes } from "./limits.ts";

/** The new connections of an address in a second: at least so many, and such a part of those that it may have. */
const leastPerSecond = 50;
const partPerSecond = 0.05;

/** The rates of new connections: over TLS, making one costs ten times what a request does. */
export class Arrivals {
  readonly #limits: ConnectionLimits;
  readonly #turns: Turns;

  constructor(limits: ConnectionLimits, clock: Pick<Clock, "monotonic">) {
    this.#limits = limits;
    this.#turns = new Turns(clock);
  }

  /** Counts a new connection. False, and nothing is counted: its networks have made too many of late. */
  enter(networks: Networks): boolean {
    const { most, mostWider } = mostOf(networks, this.#limits);
    const turns = [
      [networks.own, toRate(most)],
      [`around ${networks.wider}`, toRate(mostWider, widerTimes)],
    ] as const;
    if (turns.some(([network, rate]) => this.#turns.wait(network, rate) > 0)) {
      return false;
    }
    for (const [network, rate] of turns) {
      this.#turns.take(network, 1, rate);
    }
    return true;
  }
}

/** The rate of a network that may have `most` connections, and at least the rate of so many addresses. */
function toRate(most: number, addresses = 1): Rate {
  const perSecond = Math.max(leastPerSecond * addresses, most * partPerSecond);
  return { perSecond, burst: Math.max(most, 2 * perSecond) };
}
