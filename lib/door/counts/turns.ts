import type { Clock } from "../../time/clock.ts";

/** How often something may be done. */
export interface Rate {
  readonly perSecond: number;
  /** How often it may be done at once. */
  readonly burst: number;
}

/** The networks that are counted at a time. */
const mostNetworks = 20_000;
/** The longest that anything waits for its turn, in milliseconds. */
export const longestMs = 10_000;

/** The turns of networks. No more memory than for so many. */
export class Turns {
  readonly #clock: Pick<Clock, "monotonic">;
  /** When each network has its next turn, by the monotonic clock; used for longest first. */
  readonly #nextAt = new Map<string, number>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** The networks that are kept now. */
  get size(): number {
    return this.#nextAt.size;
  }

  /** The milliseconds that a network would wait for its next turn. */
  wait(network: string, rate: Rate): number {
    return waitFor(this.#after(network, 1, rate), rate);
  }

  /** Takes turns for a network. Returns the milliseconds until the last one of them. */
  take(network: string, turns: number, rate: Rate): number {
    const now = this.#clock.monotonic();
    const after = this.#after(network, turns, rate);
    this.#nextAt.delete(network); // moves it to the end
    for (const [oldest, at] of this.#nextAt) {
      if (at > now && this.#nextAt.size < mostNetworks) {
        break;
      }
      this.#nextAt.delete(oldest);
    }
    this.#nextAt.set(network, now + Math.min(after, toBurstMs(rate) + longestMs));
    return waitFor(after, rate);
  }

  /** The milliseconds until a network would have had so many turns more, without a burst. */
  #after(network: string, turns: number, { perSecond }: Rate): number {
    const now = this.#clock.monotonic();
    return Math.max(0, (this.#nextAt.get(network) ?? now) - now) + (1000 * turns) / perSecond;
  }
}

const toBurstMs = ({ perSecond, burst }: Rate) => (1000 * burst) / perSecond;

function waitFor(afterMs: number, rate: Rate): number {
  return Math.min(Math.max(0, afterMs - toBurstMs(rate)), longestMs);
}
