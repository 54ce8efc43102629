import type { Clock } from "#lib/time/clock.ts";
import type { RoutingRequest } from "../choice/policy.ts";
import type { ExpectedOutput } from "../estimates/expected-output.ts";
import type { Member } from "../member.ts";
import type { Wish } from "../wish.ts";
import type { Lanes } from "./lanes.ts";
import { Pace, tokensBefore } from "./pace.ts";

const unknown = Number.POSITIVE_INFINITY;

/** Judges whether a request would have its first token by the time that its class is promised. */
export class FirstTokenPromises {
  readonly #line: Lanes;
  readonly #output: ExpectedOutput;
  readonly #clock: Clock;
  readonly #pace = new Pace();
  /** The soonest first token among the servers considered for the last wish, in milliseconds. Infinity: none were. */
  #soonest = unknown;

  constructor(line: Lanes, output: ExpectedOutput, clock: Clock) {
    this.#line = line;
    this.#output = output;
    this.#clock = clock;
  }

  /** The first request begins to wait. */
  queueBegan(): void {
    this.#pace.began(this.#clock.monotonic());
  }

  /** A server took a waiting request of this many tokens. */
  queueMoved(tokens: number): void {
    this.#pace.took(tokens, this.#clock.monotonic());
  }

  /** Starts another wish: no server was considered for it yet. */
  restart(): void {
    this.#soonest = unknown;
  }

  /** The routing request for a wish. With a promise, it admits only servers that would keep it. */
  restrict({ route, promisedBy }: Wish): RoutingRequest {
    if (promisedBy === undefined) {
      return route;
    }
    const left = promisedBy - this.#clock.monotonic();
    const keeps = (member: Member, uncached: number) => {
      const ms = member.firstToken.predict(member.unread + uncached);
      this.#soonest = Math.min(this.#soonest, ms);
      return ms <= left;
    };
    return { ...route, keeps };
  }

  /** Whether no server considered for the last wish would keep its promise. */
  isLate({ promisedBy }: Wish): boolean {
    const isAsked = promisedBy !== undefined && this.#soonest !== unknown;
    return isAsked && this.#clock.monotonic() + this.#soonest > promisedBy;
  }

  /**
   * How many milliseconds after its promise the last wish, which has no place, would have its first token. Estimated
   * from the servers considered or, where there were none, from the queue's pace. 0 or less: it may wait.
   */
  lateBy(wish: Wish, members: readonly Member[]): number {
    if (wish.promisedBy === undefined) {
      return 0;
    }
    const left = wish.promisedBy - this.#clock.monotonic();
    if (this.#soonest !== unknown) {
      return this.#soonest - left;
    }
    const measure = (one: Wish) => this.#output.measure(one.route).total;
    const before = tokensBefore(this.#line, wish, measure(wish), measure);
    const best = members.reduce((least, { fit, firstToken, unread }) => {
      return fit ? Math.min(least, firstToken.predict(unread)) : least;
    }, unknown);
    return this.#pace.predict(before) + (best === unknown ? 0 : best) - left;
  }
}
