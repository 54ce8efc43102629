import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { durationOf } from "../../../lib/time/duration.ts";
import { EngineFault } from "../../engines/interface.ts";
import type { Policy, Route } from "../routing/policy.ts";
import type { Member } from "./member.ts";
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

interface Waiter extends Pick<Wish, "key" | "deadline"> {
  readonly wish: Wish;
  readonly grant: (place: Place) => void;
  readonly refuse: (error: Error) => void;
}

/** A request's place on a server. */
export class Place {
  readonly member: Member;
  /** Whose it is. */
  readonly key: string;
  #unread: number;

  constructor(member: Member, key: string, unread: number) {
    this.member = member;
    this.key = key;
    this.#unread = unread;
    member.inFlight++;
    member.unreadTokens += unread;
    member.breaker.enter();
  }

  /** The server has read the prompt. */
  began(): void {
    this.member.unreadTokens -= this.#unread;
    this.#unread = 0;
  }
}

/** The servers of one model and the requests that wait for one of them. */
export class Pool {
  readonly modelId: string;
  #members: readonly Member[] = [];
  #policy: Policy;
  readonly #clock: Clock;
  readonly #maxWaiting: number;
  /** Places in use, by key. */
  readonly #held = new Map<string, number>();
  readonly #line = new WaitingLine<Waiter>((key) => this.#held.get(key) ?? 0);
  #closed = false;

  /** Has no servers before `replace`. */
  constructor(modelId: string, policy: Policy, clock: Clock, maxWaiting: number) {
    this.modelId = modelId;
    this.#policy = policy;
    this.#clock = clock;
    this.#maxWaiting = maxWaiting;
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  /** How a server is chosen. */
  get policy(): Policy {
    return this.#policy;
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#line.length;
  }

  /**
   * Takes a place on a server, which `release` gives back. Throws OVERLOADED when the queue is full or the
   * deadline passes, MODEL_NOT_FOUND when the model is no longer served, and the signal's reason when that comes first.
   */
  acquire(wish: Wish, signal: AbortSignal): Place | Promise<Place> {
    const place = this.#line.length === 0 ? this.#choose(wish) : undefined;
    if (place !== undefined) {
      return place;
    }
    if (this.#closed) {
      throw this.#gone();
    }
    this.#makeRoom(wish.key);
    return this.#wait(wish, signal);
  }

  /** Gives a place back. */
  release(place: Place): void {
    place.began();
    place.member.leave();
    this.#hold(place.key, -1);
    this.pump();
  }

  /** Takes other servers. While there are none, requests wait. */
  replace(members: readonly Member[], policy: Policy = this.#policy): void {
    policy.replace(members);
    this.#members = members;
    this.#policy = policy;
    this.pump();
  }

  /** The model is no longer served: those who wait are refused, as are those who come. */
  close(): void {
    this.#closed = true;
    this.replace([]);
    const refused = (waiter: Waiter) => {
      waiter.refuse(this.#gone());
      return true;
    };
    while (this.#line.serveNext(refused)) {}
  }

  /** A server has lost what it had in its cache. */
  forget(member: Member): void {
    this.#policy.forget(member);
  }

  /** Gives free places to those who wait. Called whenever a server may have become available. */
  pump(): void {
    while (this.#line.length > 0 && this.members.some((member) => member.available)) {
      const served = this.#line.serveNext((waiter) => {
        const place = this.#choose(waiter.wish);
        if (place !== undefined) {
          waiter.grant(place);
        }
        return place !== undefined;
      });
      if (!served) {
        return;
      }
    }
  }

  #choose({ failed, key, route }: Wish): Place | undefined {
    const candidates = this.members.filter((member) => member.available && !failed.has(member));
    if (candidates.length === 0) {
      return undefined;
    }
    const { member, uncachedTokens } = this.#policy.choose(candidates, route);
    this.#hold(key, 1);
    return new Place(member, key, uncachedTokens);
  }

  #hold(key: string, places: number): void {
    const held = (this.#held.get(key) ?? 0) + places;
    if (held === 0) {
      this.#held.delete(key);
    } else {
      this.#held.set(key, held);
    }
  }

  /**
   * Sees that there is room for one more in the queue. One key has half of it at most, and in a full queue the last
   * one of the key with the most gives way. Throws OVERLOADED where that would be the one who asks.
   */
  #makeRoom(key: string): void {
    const waiting = this.#line.lengthOf(key);
    if (waiting > 0 && waiting >= this.#maxWaiting / 2) {
      throw this.#overloaded("the account's half of the queue is full");
    }
    if (this.#line.length < this.#maxWaiting) {
      return;
    }
    const last = this.#line.lastOfLongest();
    if (last === undefined || this.#line.lengthOf(last.key) <= waiting + 1) {
      throw this.#overloaded("the queue is full");
    }
    this.#line.remove(last);
    last.refuse(this.#overloaded("the queue is full, and others have fewer in it"));
  }

  #wait(wish: Wish, signal: AbortSignal): Promise<Place> {
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
      const grant = (place: Place) => {
        stop();
        resolve(place);
      };
      const refuse = (error: Error) => {
        stop();
        reject(error);
      };
      const waiter: Waiter = { key: wish.key, deadline: wish.deadline, wish, grant, refuse };
      if (signal.aborted) {
        return reject(signal.reason);
      }
      signal.addEventListener("abort", onAbort, { once: true });
      this.#line.push(waiter);
    });
  }

  #gone(): Error {
    return failure(Reason.MODEL_NOT_FOUND, `The model '${this.modelId}' is no longer served.`, { parameter: "model" });
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
