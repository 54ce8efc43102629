import type { Clock } from "#lib/time/clock.ts";
import type { FleetConfig } from "#src/config/schema.ts";
import type { Head } from "../sharing/standing.ts";
import { Chooser } from "./choice/chooser.ts";
import type { Policy } from "./choice/policy.ts";
import { ExpectedOutput } from "./estimates/expected-output.ts";
import type { Member } from "./member.ts";
import type { Place } from "./place.ts";
import { FirstTokenPromises } from "./queue/first-token-promises.ts";
import { KeptServers } from "./queue/kept-servers.ts";
import { Lanes } from "./queue/lanes.ts";
import { makeRoom } from "./queue/make-room.ts";
import type { OtherQueues } from "./queue/other-queues.ts";
import { Refusals } from "./queue/refusals.ts";
import { type Waiter, waitFor } from "./queue/waiter.ts";
import { Yielding } from "./queue/yielding.ts";
import { findFreeRoom, Shares } from "./shares.ts";
import type { Wish } from "./wish.ts";

/** The servers of one model, and the requests that wait for them. */
export class Pool {
  readonly modelId: string;
  readonly #clock: Clock;
  readonly #maxWaiting: number;
  readonly #refusals: Refusals;
  /** What accounts have running. */
  readonly shares: Shares;
  readonly #output = new ExpectedOutput();
  /** The waiting requests. */
  readonly line: Lanes;
  readonly #yielding: Yielding;
  readonly #promises: FirstTokenPromises;
  readonly #kept = new KeptServers();
  readonly #chooser: Chooser;
  #closed = false;
  /** Called when the load on some server has changed. */
  onChange: () => void = () => {};

  /** Has no servers before `replace`. */
  constructor(
    modelId: string,
    policy: Policy,
    clock: Clock,
    { queue, reserve, health_interval_s }: Pick<FleetConfig, "queue" | "reserve" | "health_interval_s">,
  ) {
    this.modelId = modelId;
    this.#clock = clock;
    this.#maxWaiting = queue;
    this.#refusals = new Refusals(this, health_interval_s * 1000);
    this.shares = new Shares(reserve);
    this.line = new Lanes(this.shares, clock);
    this.#yielding = new Yielding(this.line);
    this.#promises = new FirstTokenPromises(this.line, this.#output, clock);
    const [shares, output, promises, kept] = [this.shares, this.#output, this.#promises, this.#kept];
    this.#chooser = new Chooser(policy, { shares, output, promises, kept, clock });
  }

  get members(): readonly Member[] {
    return this.#chooser.members;
  }

  /** How a server is chosen. */
  get policy(): Policy {
    return this.#chooser.policy;
  }

  /** The number of waiting requests. */
  get waiting(): number {
    return this.line.length;
  }

  /** The queues of other cores for this model. Not set: there are none. */
  set others(others: OtherQueues) {
    this.#yielding.others = others;
  }

  /** The request that would be served next if one more place were free. Undefined: none. */
  get head(): Head | undefined {
    if (this.line.length === 0) {
      return undefined;
    }
    const { places, tokens } = findFreeRoom(this.members);
    const measure = ({ wish }: Waiter) => this.#output.measure(wish.route);
    const next = this.line.first((waiter) => {
      const { total } = measure(waiter);
      return this.shares.mayEnter(waiter.key, total, { places: places + 1, tokens: tokens && tokens + total });
    });
    return next && { ...this.line.standingOf(next), ...measure(next) };
  }

  /**
   * Another core has left a place on a server to this one, which may leave it to a third one if it `maySkip` its turn.
   * Returns false if no waiting request may use the server, which has room.
   */
  takeLeft(member: Member, maySkip: boolean): boolean {
    const { inFlight } = member;
    this.#kept.renew(() => this.#serve(maySkip ? (waiter) => this.#yield(waiter) : undefined));
    if (member.inFlight > inFlight) {
      return true;
    }
    const isFull = member.fit && member.freePlaces <= 0;
    this.pump(); // leaves it to the next core, or to nobody
    return isFull || member.inFlight > inFlight;
  }

  /** Whether requests wait, on this core or another. */
  get isContended(): boolean {
    return this.line.length > 0 || this.#yielding.isAsked;
  }

  /** Tokens of the waiting requests: of their prompts and their expected answers. */
  get waitingTokens(): number {
    return [...this.line].reduce((sum, { wish }) => sum + this.#output.measure(wish.route).total, 0);
  }

  /**
   * Takes a place on a server, which `release` gives back. Throws NO_SERVER at once when none is up, OVERLOADED when the
   * queue is full or the deadline passes, MODEL_NOT_FOUND when the model is no longer served, and the signal's reason when it aborts first.
   */
  acquire(wish: Wish, signal: AbortSignal): Place | Promise<Place> {
    this.#promises.restart();
    const place = this.line.length === 0 && this.#chooser.mayEnter(wish) ? this.#take(wish) : undefined;
    if (place !== undefined) {
      this.line.tookAtOnce(place, this.#yielding.others.heads());
      return place;
    }
    if (this.#closed) {
      throw this.#refusals.gone();
    }
    if (this.#refusals.isDown) {
      throw this.#refusals.down();
    }
    const lateBy = this.#promises.lateBy(wish, this.members);
    if (lateBy > 0) {
      throw this.#shed(wish, lateBy);
    }
    makeRoom(this.line, this.#maxWaiting, wish, (why) => this.#refusals.busy(why));
    const isPromise = wish.deadline === wish.promisedBy;
    const onLate = () => (isPromise ? this.#shed(wish, 0) : this.#refusals.late());
    const waiting = waitFor(wish, this.line, this.#clock, signal, onLate);
    waiting.catch(() => {
      this.#kept.free();
      this.onChange();
    });
    this.onChange();
    if (this.line.length === 1) {
      this.#promises.queueBegan();
    }
    this.pump();
    return waiting;
  }

  /** A place's server has begun to answer: it may read another prompt. */
  began(place: Place): void {
    place.began(this.#clock.monotonic());
    this.onChange();
    place.member.freed();
  }

  /** Gives a place back. */
  release(place: Place): void {
    place.leave();
    if (place.output > 0) {
      this.policy.caches?.learn(place.choice, { promptTokens: place.prompt, cachedTokens: place.cached });
    }
    this.#output.learn(place.output);
    this.shares.leave(place);
    this.#served(place, place.work - place.expectedWork);
    this.onChange();
    place.member.freed();
  }

  /** Replaces the servers. While there are none, requests wait. */
  replace(members: readonly Member[], policy: Policy = this.policy): void {
    policy.replace(members);
    this.#chooser.members = members;
    this.#chooser.policy = policy;
    this.pump();
  }

  /** The model is no longer served: refuses waiting and new requests. */
  close(): void {
    this.#closed = true;
    this.replace([]);
    const refused = (waiter: Waiter) => {
      waiter.refuse(this.#refusals.gone());
      return true;
    };
    while (this.line.serveNext(refused)) {}
  }

  /** A server's cache was lost. */
  forget(member: Member): void {
    this.policy.caches?.forget(member);
  }

  /**
   * Gives free places to waiting requests, and leaves them to other cores whose requests go first. Called whenever a
   * server may have become available.
   */
  pump(): void {
    if (!this.#kept.isEmpty || this.isContended) {
      this.#kept.renew(() => {
        this.#serve((waiter) => this.#yield(waiter));
        this.#yield(undefined);
      });
    }
  }

  /** Leaves places to requests elsewhere that go before a waiter, or to all of them. */
  #yield(before: Waiter | undefined): boolean {
    const next = before && this.line.standingOf(before);
    return this.#yielding.yieldBefore(next, this.members, this.#kept);
  }

  /** Serves waiting requests by turn until no more can be served. Keeps servers free for those that need more room. */
  #serve(yieldBefore: (waiter: Waiter) => boolean = () => false): void {
    const kept = this.#kept;
    const takes = (member: Member) => member.available && !kept.has(member);
    while (this.line.length > 0 && !kept.isFull && this.members.some(takes)) {
      let free = findFreeRoom(this.members);
      const sated = new Set<string>();
      const served = this.line.serveNext((waiter) => {
        if (kept.isFull || sated.has(waiter.key)) {
          return false;
        }
        if (yieldBefore(waiter)) {
          free = findFreeRoom(this.members);
        }
        if (!this.#chooser.mayEnter(waiter.wish, free)) {
          sated.add(waiter.key);
          return false;
        }
        const place = this.#take(waiter.wish, (usable) => kept.keepOneOf(usable));
        if (place === undefined) {
          return this.#refusesLate(waiter);
        }
        this.#promises.queueMoved(place.expectedTokens);
        waiter.grant(place);
        return true;
      }, this.#yielding.others.heads());
      if (!served) {
        return;
      }
    }
  }

  /** Takes a place on a server that can take the wish now. */
  #take(wish: Wish, keepOneOf: (usable: readonly Member[]) => void = () => {}): Place | undefined {
    const place = this.#chooser.choose(wish, keepOneOf);
    if (place !== undefined) {
      this.shares.enter(place);
      this.#served(place, place.expectedWork);
      this.onChange();
    }
    return place;
  }

  /** Counts work for an account's turns, and tells other cores while anybody waits. */
  #served(place: Place, work: number): void {
    this.line.serve(place, work);
    if (this.isContended) {
      this.#yielding.others.served(place, work, this.shares.workHere(place.key));
    }
  }

  /** Refuses a waiting request when no free server would keep its promised first token. */
  #refusesLate(waiter: Waiter): boolean {
    if (!this.#promises.isLate(waiter.wish)) {
      return false;
    }
    waiter.refuse(this.#shed(waiter.wish, this.#promises.lateBy(waiter.wish, this.members)));
    return true;
  }

  #shed(wish: Wish, lateByMs: number): Error {
    wish.onShed?.();
    return this.#refusals.busy("no server would keep the promised first token", Math.max(1000, lateByMs));
  }
}
