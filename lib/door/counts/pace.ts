import { isThisMachine, toNetwork, toWiderNetwork } from "../../net/network.ts";
import type { Clock } from "../../time/clock.ts";
import { longestMs, type Rate, Turns } from "./turns.ts";

/** What has no turn at once, in seconds of the pace. */
const burstSeconds = 2;
/** How many times the pace of an address the network around it has, and this machine, where a proxy may run. */
const widerTimes = 4;

/** How much an address may have had of late before it owes. */
const oweAfter = 8;

/** The golden ratio's fraction: its multiples fall evenly between whole numbers, wherever they begin and end. */
const step = 0.618_034;

/**
 * A pace for each network at which the service does what brings it nothing, after a burst that is done at once. Nothing is
 * refused for it: it waits for its turn.
 */
export class Pace {
  readonly #narrow: Rate;
  readonly #wide: Rate;
  readonly #turns: Turns;
  #place = 0;

  /** `perSecond`: the pace of an address. */
  constructor(perSecond: number, clock: Pick<Clock, "monotonic">) {
    this.#narrow = { perSecond, burst: perSecond * burstSeconds };
    this.#wide = { perSecond: perSecond * widerTimes, burst: perSecond * widerTimes * burstSeconds };
    this.#turns = new Turns(clock);
  }

  /** Whether anybody may owe anything. */
  get isAsked(): boolean {
    return this.#turns.size > 0;
  }

  /** Whether a client's network has had so much of late that what it asks for next is likely to be more of the same. */
  owes(address: string): boolean {
    const own = toNetwork(address);
    const wide = { ...this.#wide, burst: oweAfter * widerTimes };
    return (
      this.#turns.wait(own, isThisMachine(own) ? wide : { ...this.#narrow, burst: oweAfter }) > 0 ||
      this.#turns.wait(`around ${toWiderNetwork(address)}`, wide) > 0
    );
  }

  /**
   * Takes turns for a client. Returns the milliseconds until the last one of them. More than have turns in the longest time
   * wait for half of it or more: they come again as soon as they are answered, and would all come at once for ever.
   */
  take(address: string, turns: number): number {
    const own = toNetwork(address);
    const waitMs = Math.max(
      this.#turns.take(own, turns, isThisMachine(own) ? this.#wide : this.#narrow),
      this.#turns.take(`around ${toWiderNetwork(address)}`, turns, this.#wide),
    );
    if (waitMs < longestMs) {
      return waitMs;
    }
    this.#place = (this.#place + step) % 1;
    return longestMs * (1 - this.#place / 2);
  }
}
