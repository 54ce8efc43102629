import { serviceClasses } from "../../../../lib/service-class.ts";
import { RunningRatio } from "../../routing/running-ratio.ts";
import type { Wish } from "../wish.ts";
import type { Lanes } from "./lanes.ts";

/** How fast a queue gets on, learned while somebody waits in it. */
export class Pace {
  /** Milliseconds a token; none before anything is known, so that nobody is refused for a guess. */
  readonly #msPerToken = new RunningRatio(0, 1);
  #since = 0;

  /** The first one waits from now on, on the monotonic clock. */
  began(now: number): void {
    this.#since = now;
  }

  /** Somebody with so many tokens waits no longer: a server took it. */
  took(tokens: number, now: number): void {
    this.#msPerToken.learn(tokens, now - this.#since);
    this.#since = now;
  }

  /** Milliseconds until a server takes what comes after so many tokens. */
  predict(tokens: number): number {
    return tokens * this.#msPerToken.value;
  }
}

/**
 * Tokens that are served before a wish of so many is, itself included: those of higher classes, its key's own, and of each
 * other key of its class as many, since keys take turns.
 */
export function tokensBefore(line: Lanes, wish: Wish, tokens: number, measure: (wish: Wish) => number): number {
  const { key, serviceClass = "standard" } = wish;
  const byKey = new Map([[key, tokens]]);
  let higher = 0;
  for (const waiter of line) {
    if (waiter.serviceClass === serviceClass) {
      byKey.set(waiter.key, (byKey.get(waiter.key) ?? 0) + measure(waiter.wish));
    } else if (serviceClasses.indexOf(waiter.serviceClass) > serviceClasses.indexOf(serviceClass)) {
      higher += measure(waiter.wish);
    }
  }
  const own = byKey.get(key) ?? tokens;
  return higher + [...byKey.values()].reduce((sum, one) => sum + Math.min(one, own), 0);
}
