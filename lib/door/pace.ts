import { isThisMachine, toNetwork, toWiderNetwork } from "../net/network.ts";
import type { Clock } from "../time/clock.ts";

/** What has no turn at once, in seconds of the pace. */
const burstSeconds = 2;
/** How many times the pace of an address the network around it has, and this machine, where a proxy may run. */
const widerTimes = 4;
/** The longest that anything waits for its turn, in milliseconds. */
const longestMs = 5_000;
/** The networks that are counted at a time. */
const mostNetworks = 20_000;

/**
 * A pace for each network at which the service does what brings it nothing, after a burst that is done at once. Nothing is
 * refused for it: it waits for its turn.
 */
export class Pace {
  readonly #perSecond: number;
  readonly #clock: Pick<Clock, "monotonic">;
  /** When each network has its next turn, by the monotonic clock; used for longest first. */
  readonly #nextAt = new Map<string, number>();

  /** `perSecond`: the pace of an address. */
  constructor(perSecond: number, clock: Pick<Clock, "monotonic">) {
    this.#perSecond = perSecond;
    this.#clock = clock;
  }

  /** The networks that are kept now. */
  get size(): number {
    return this.#nextAt.size;
  }

  /** Takes turns for a client. Returns the milliseconds until the last one of them. */
  take(address: string, turns: number): number {
    const own = toNetwork(address);
    const wider = this.#perSecond * widerTimes;
    return Math.max(
      this.#takeOf(own, turns, isThisMachine(own) ? wider : this.#perSecond),
      this.#takeOf(`around ${toWiderNetwork(address)}`, turns, wider),
    );
  }

  #takeOf(network: string, turns: number, perSecond: number): number {
    const now = this.#clock.monotonic();
    const next = Math.max(this.#nextAt.get(network) ?? now, now) + (1000 * turns) / perSecond;
    const burstMs = 1000 * burstSeconds;
    this.#nextAt.delete(network); // moves it to the end
    for (const [oldest, at] of this.#nextAt) {
      if (at > now && this.#nextAt.size < mostNetworks) {
        break;
      }
      this.#nextAt.delete(oldest);
    }
    this.#nextAt.set(network, Math.min(next, now + burstMs + longestMs));
    return Math.min(Math.max(0, next - now - burstMs), longestMs);
  }
}
