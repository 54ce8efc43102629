import { serviceClasses } from "#lib/limits/service-class.ts";
import { RunningRatio } from "../choice/running-ratio.ts";
import type { Wish } from "../wish.ts";
import type { Lanes } from "./lanes.ts";

/** How fast a queue moves, learned while requests wait in it. */
export class Pace {
  /** Milliseconds for each token. 0 before anything is known, so that nobody is refused for a guess. */
  readonly #msPerToken = new RunningRatio(0, 1);
  #since = 0;

  /** The first request begins to wait, on the monotonic clock. */
  began(now: number): void {
    this.#since = now;
  }

  /** A server took a waiting request of this many tokens. */
  took(tokens: number, now: number): void {
    this.#msPerToken.learn(tokens, now - this.#since);
    this.#since = now;
  }

  /** Milliseconds until a server takes a request that has this many tokens before it. */
  predict(tokens: number): number {
    return tokens * this.#msPerToken.value;
  }
}

/**
 * Tokens that are served up to a wish of `tokens`, itself included: those of higher classes, its own key's, and as many
 * of each other key in its class, since keys take turns.
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
