import { isThisMachine, toNetwork, toWiderNetwork } from "../../net/network.ts";
import type { Clock } from "../../time/clock.ts";
import { type Rate, Turns } from "./turns.ts";

/** What has no turn at once, in seconds of the pace. */
const burstSeconds = 2;
/** How many times the pace of an address the network around it has, and this machine, where a proxy may run. */
const widerTimes = 4;

/**
 * A pace for each network at which the service does what brings it nothing, after a burst that is done at once. Nothing is
 * refused for it: it waits for its turn.
 */
export class Pace {
  readonly #narrow: Rate;
  readonly #wide: Rate;
  readonly #turns: Turns;

  /** `perSecond`: the pace of an address. */
  constructor(perSecond: number, clock: Pick<Clock, "monotonic">) {
    this.#narrow = { perSecond, burst: perSecond * burstSeconds };
    this.#wide = { perSecond: perSecond * widerTimes, burst: perSecond * widerTimes * burstSeconds };
    this.#turns = new Turns(clock);
  }

  /** Takes turns for a client. Returns the milliseconds until the last one of them. */
  take(address: string, turns: number): number {
    const own = toNetwork(address);
    return Math.max(
      this.#turns.take(own, turns, isThisMachine(own) ? this.#wide : this.#narrow),
      this.#turns.take(`around ${toWiderNetwork(address)}`, turns, this.#wide),
    );
  }
}
