import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { toDuration } from "../../../lib/time/duration.ts";
import type { FleetConfig } from "../../config/schema.ts";
import { EngineFault } from "../../engines/interface.ts";
import type { Policy, RoutingRequest } from "../routing/policy.ts";
import { ExpectedOutput } from "./expected-output.ts";
import type { Member } from "./member.ts";
import { Place } from "./place.ts";
import { Lanes } from "./queue/lanes.ts";
import { makeRoom } from "./queue/make-room.ts";
import { Pace, tokensBefore } from "./queue/pace.ts";
import { type Waiter, waitFor } from "./queue/waiter.ts";
import { type FreeRoom, findFreeRoom, Shares } from "./shares.ts";
import type { Wish } from "./wish.ts";

/** Servers that are kept free at a time; whoever comes after so many does not try. */
const mostKept = 8;

/** The servers of one model and the requests that wait for one of them. */
export class Pool {
  readonly modelId: string;
  #members: readonly Member[] = [];
  #policy: Policy;
  readonly #clock: Clock;
  readonly #maxWaiting: number;
  readonly #shares: Shares;
  readonly #output = new ExpectedOutput();
  readonly #line: Lanes;
  readonly #pace = new Pace();
  /** The soonest first token of the servers that were asked for the promised wish that was chosen for last, in milliseconds. */
  #soonest = Number.POSITIVE_INFINITY;
  /** Servers that are kept free for requests that wait for room on them. */
  readonly #kept = new Set<Member>();
  /** Who can take the wish that is looked at now, and who of them has room for it. */
  readonly #candidates: Member[] = [];
  readonly #roomy: Member[] = [];
  #closed = false;
  /** Is told when what runs on some server has changed. */
  onChange: () => void = () => {};

  /** Has no servers before `replace`. */
  constructor(
    modelId: string,
    policy: Policy,
    clock: Clock,
    { queue, reserve }: Pick<FleetConfig, "queue" | "reserve">,
  ) {
    this.modelId = modelId;
    this.#policy = policy;
    this.#clock = clock;
    this.#maxWaiting = queue;
    this.#shares = new Shares(reserve);
    this.#line = new Lanes(this.#shares);
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

  /** Tokens of those who wait, of their prompts and what is expected of their answers. */
  get waitingTokens(): number {
    return [...this.#line].reduce((sum, { wish }) => sum + this.#measure(wish).total, 0);
  }

  /**
   * Takes a place on a server, which `release` gives back. Throws OVERLOADED when the queue is full or the
   * deadline passes, MODEL_NOT_FOUND when the model is no longer served, and the signal's reason when that comes first.
   */
  acquire(wish: Wish, signal: AbortSignal): Place | Promise<Place> {
    this.#soonest = Number.POSITIVE_INFINITY;
    const place = this.#line.length === 0 && this.#mayEnter(wish) ? this.#choose(wish, undefined) : undefined;
    if (place !== undefined) {
      this.#line.tookAtOnce(place);
      return place;
    }
    if (this.#closed) {
      throw this.#gone();
    }
    const lateBy = this.#lateBy(wish);
    if (lateBy > 0) {
      throw this.#shed(wish, lateBy);
    }
    makeRoom(this.#line, this.#maxWaiting, wish, (why) => this.#overloaded(why));
    const onLate = () => this.#overloaded("no server became free in time");
    const waiting = waitFor(wish, this.#line, this.#clock, signal, onLate);
    waiting.catch(() => this.#gaveUp());
    if (this.#line.length === 1) {
      this.#pace.began(this.#clock.monotonic());
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
      this.#policy.learn(place.choice, { promptTokens: place.prompt, cachedTokens: place.cached });
    }
    this.#output.learn(place.output);
    this.#shares.leave(place);
    this.#line.left(place);
    this.onChange();
    place.member.freed();
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
    const kept = this.#kept;
    if (kept.size === 0 && this.#line.length === 0) {
      return;
    }
    for (const { machine } of kept) {
      machine.keptFor = undefined;
    }
    kept.clear();
    this.#serve(kept);
    for (const member of kept) {
      member.machine.keptFor = member;
    }
  }

  /** Serves who waits in turn until nobody can be, and notes the servers that are kept. */
  #serve(kept: Set<Member>): void {
    const takes = (member: Member) => member.available && !kept.has(member);
    while (this.#line.length > 0 && kept.size < mostKept && this.members.some(takes)) {
      const free = findFreeRoom(this.members);
      const sated = new Set<string>();
      const served = this.#line.serveNext((waiter) => {
        if (kept.size >= mostKept || sated.has(waiter.key)) {
          return false;
        }
        if (!this.#mayEnter(waiter.wish, free)) {
          sated.add(waiter.key);
          return false;
        }
        const place = this.#choose(waiter.wish, kept);
        if (place !== undefined) {
          this.#pace.took(place.expectedTokens, this.#clock.monotonic());
          waiter.grant(place);
          return true;
        }
        return this.#refusesLate(waiter);
      });
      if (!served) {
        return;
      }
    }
  }

  /** Somebody waits no longer, for whom servers may have been kept free. */
  #gaveUp(): void {
    for (const member of [...this.#kept]) {
      member.freed();
    }
  }

  /** Whether the wish's account leaves enough to others with it. */
  #mayEnter({ key, route }: Wish, free?: FreeRoom): boolean {
    return (
      !this.#shares.hasAny(key) ||
      this.#shares.mayEnter(key, this.#measure({ route }).total, free ?? findFreeRoom(this.members))
    );
  }

  /**
   * A place on a server that can take the wish now. Where none can for want of room, one of them is kept free of
   * whoever comes after, until there is: large requests would starve.
   */
  #choose(wish: Wish, kept: Set<Member> | undefined): Place | undefined {
    const { failed, route } = wish;
    this.#soonest = Number.POSITIVE_INFINITY;
    const { prompt, output, total } = this.#measure({ route });
    const [candidates, roomy] = [this.#candidates, this.#roomy];
    candidates.length = 0;
    roomy.length = 0;
    for (const member of this.#members) {
      if (!member.available || failed.has(member) || kept?.has(member)) {
        continue;
      }
      candidates.push(member);
      if (member.kv.takes(total)) {
        roomy.push(member);
      }
    }
    if (candidates.length === 0) {
      return undefined;
    }
    const choice = roomy.length === 0 ? undefined : this.#policy.choose(roomy, this.#promised(wish));
    if (choice === undefined) {
      if (!this.#isLate(wish)) {
        kept?.add(emptiest(candidates));
      }
      return undefined;
    }
    const place = new Place(choice, wish, { prompt, output }, this.#clock.monotonic());
    this.#shares.enter(place);
    this.#line.took(place);
    this.onChange();
    return place;
  }

  /** What a server is chosen by: where a first token is promised, those that would keep it. */
  #promised({ route, promisedBy }: Wish): RoutingRequest {
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

  /** Whether no server that was asked last would keep what the wish is promised. */
  #isLate({ promisedBy }: Wish): boolean {
    const isAsked = promisedBy !== undefined && this.#soonest !== Number.POSITIVE_INFINITY;
    return isAsked && this.#clock.monotonic() + this.#soonest > promisedBy;
  }

  /**
   * How many milliseconds after its promise a wish that has no place would have its first token: as is expected of the
   * servers that were asked, or as the queue gets on, where none was. Not above 0: it may wait.
   */
  #lateBy(wish: Wish): number {
    if (wish.promisedBy === undefined) {
      return 0;
    }
    const left = wish.promisedBy - this.#clock.monotonic();
    if (this.#soonest !== Number.POSITIVE_INFINITY) {
      return this.#soonest - left;
    }
    const before = tokensBefore(this.#line, wish, this.#measure(wish).total, (one) => this.#measure(one).total);
    const best = this.#members.reduce((least, { fit, firstToken, unread }) => {
      return fit ? Math.min(least, firstToken.predict(unread)) : least;
    }, Number.POSITIVE_INFINITY);
    return this.#pace.predict(before) + (best === Number.POSITIVE_INFINITY ? 0 : best) - left;
  }

  /** Refuses one who waits and would not have what it is promised from any server that is free. */
  #refusesLate(waiter: Waiter): boolean {
    if (!this.#isLate(waiter.wish)) {
      return false;
    }
    waiter.refuse(this.#shed(waiter.wish, this.#lateBy(waiter.wish)));
    return true;
  }

  #shed(wish: Wish, lateByMs: number): Error {
    wish.onShed?.();
    return this.#overloaded("no server would keep the promised first token", Math.max(1000, lateByMs));
  }

  /** Tokens that a wish is for, roughly. */
  #measure({ route: { promptTokens: prompt, request } }: Pick<Wish, "route">) {
    const output = request === undefined ? 0 : this.#output.within(request.maxOutputTokens);
    return { prompt, output, total: prompt + output };
  }

  #gone(): Error {
    return failure(Reason.MODEL_NOT_FOUND, `The model '${this.modelId}' is no longer served.`, { parameter: "model" });
  }

  #overloaded(why: string, retryMs = retryAfterMs): Error {
    const busy = this.members.reduce((sum, member) => sum + member.inFlight, 0);
    const what = `${why}: ${busy} requests run, ${this.#line.length} wait`;
    return failure(
      Reason.OVERLOADED,
      "The model is busy. Try again shortly.",
      { retryAfter: toDuration(Math.ceil(retryMs)) },
      new EngineFault(what, false),
    );
  }
}

const retryAfterMs = 2000;

/** The member with the fewest tokens in flight. */
function emptiest(members: readonly Member[]): Member {
  return members.reduce((one, other) => (other.machine.knownTokens < one.machine.knownTokens ? other : one));
}
