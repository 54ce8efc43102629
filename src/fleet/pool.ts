import { Reason } from "#gen/errors/v1/error_detail_pb.js";
import { EngineFault } from "../engines/interface.ts";
import { durationOf, failure } from "../errors.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Member } from "./member.ts";
import type { Policy, Route } from "./routing/policy.ts";
import { WaitingLine } from "./waiting-line.ts";

/** One request's wish for a server. */
export interface Wish {
  readonly route: Route;
  /** Whose turn it takes in the queue. */
  readonly key: string;
  /** Servers that have failed it. */
  readonly failed: ReadonlySet<Member>;
  /** When it stops waiting, on the monotonic clock. */
  readonly deadline: number;
}

interface Waiter {
  readonly key: string;
  readonly wish: Wish;
  readonly grant: (member: Member) => void;
}

/** The servers of one model and the requests that wait for one of them. */
export class Pool {
  readonly members: readonly Member[];
  readonly #policy: Policy;
  readonly #clock: Clock;
  readonly #maxWaiting: number;
  readonly #line = new WaitingLine<Waiter>();

  constructor(members: readonly Member[], policy: Policy, clock: Clock, maxWaiting: number) {
    this.members = members;
    this.#policy = policy;
    this.#clock = clock;
    this.#maxWaiting = maxWaiting;
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#line.length;
  }

  /**
   * Takes a place on a server, which `release` gives back. Throws OVERLOADED when the queue is full or the
   * deadline passes, and the signal's reason when that comes first.
   */
  acquire(wish: Wish, signal: AbortSignal): Member | Promise<Member> {
    const member = this.#line.length === 0 ? this.#choose(wish) : undefined;
    if (member !== undefined) return this.#enter(member);
    if (this.#line.length >= this.#maxWaiting) throw this.#overloaded("the queue is full");
    return this.#wait(wish, signal);
  }

  /** Gives a place back. */
  release(member: Member): void {
    member.inFlight--;
    this.pump();
  }

  /** Gives free places to those who wait. Called whenever a server may have become available. */
  pump(): void {
    while (this.#line.length > 0 && this.members.some((member) => member.available)) {
      const served = this.#line.serveNext((waiter) => {
        const member = this.#choose(waiter.wish);
        if (member !== undefined) waiter.grant(this.#enter(member));
        return member !== undefined;
      });
      if (!served) return;
    }
  }

  #choose({ failed, route }: Wish): Member | undefined {
    const candidates = this.members.filter((member) => member.available && !failed.has(member));
    return candidates.length === 0 ? undefined : this.#policy.choose(candidates, route);
  }

  #enter(member: Member): Member {
    member.inFlight++;
    member.breaker.enter();
    return member;
  }

  #wait(wish: Wish, signal: AbortSignal): Promise<Member> {
    return new Promise((resolve, reject) => {
      const leave = (error: unknown) => {
        this.#line.remove(waiter);
        stop();
        reject(error);
      };
      const onAbort = () => leave(signal.reason);
      const cancelTimer = this.#clock.after(wish.deadline - this.#clock.monotonic(), () =>
        leave(this.#overloaded("no server became free in time")),
      );
      const stop = () => {
        cancelTimer();
        signal.removeEventListener("abort", onAbort);
      };
      const grant = (member: Member) => {
        stop();
        resolve(member);
      };
      const waiter: Waiter = { key: wish.key, wish, grant };
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#line.push(waiter);
    });
  }

  #overloaded(why: string): Error {
    const busy = this.members.reduce((sum, member) => sum + member.inFlight, 0);
    const what = `${why}: ${busy} requests run, ${this.#line.length} wait`;
    return failure(
      Reason.OVERLOADED,
      "The model is busy. Try again shortly.",
      { retryAfter: durationOf(retryAfterMs) },
      new EngineFault(what, false),
    );
  }
}

const retryAfterMs = 2000;
