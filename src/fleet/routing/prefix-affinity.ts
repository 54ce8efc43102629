import type { Random } from "#lib/ids/random.ts";
import { charactersPerToken } from "#lib/text/estimate-tokens.ts";
import {
  type CacheBeliefs,
  type CacheReport,
  type Choice,
  isAnyBacklogged,
  type OnPrompt,
  type Policy,
  type RoutingRequest,
  toReaders,
} from "../servers/choice/policy.ts";
import { RunningRatio } from "../servers/choice/running-ratio.ts";
import type { SentPrompt } from "../servers/choice/sent-prompt.ts";
import type { Member } from "../servers/member.ts";
import { ServerCaches } from "./cache/server-caches.ts";
import { estimateCost, estimateLoss } from "./cost.ts";
import { lessLoaded } from "./least-load.ts";
import { PromptBlocks } from "./prompt-blocks.ts";
import { SentPrompts } from "./sent-prompts.ts";
import { homeOf } from "./session-home.ts";
import { assignSlots, toSlot } from "./slots.ts";

/** The part of requests that go to a random server: to learn, and to spread prompts that many clients send. */
const exploration = 0.002;

/** Costs within this many seconds of the lowest, or within this part of it, count as equal. */
const tieSeconds = 0.005;
const tiePart = 0.02;

/** A belief was right when at least this part of the expected tokens was in the cache. */
const rightPart = 0.75;

/** How much more than the cheapest server a new session's home may cost, in seconds: the session will come back. */
const nearSeconds = 0.25;

/** A prompt is new to a server that is believed to have less than this part of it. */
const newPart = 0.25;

/** The initial assumption: half of a continued prompt is found in the cache. Its weight is that of a few prompts. */
const assumedHits = 0.5;
const assumedTokens = 20_000;

/**
 * Chooses the server that would finish first, given its prefix cache and its load. So a conversation returns to the
 * server that has read it, until that server is too busy for the cache to be worth the wait.
 */
export class PrefixAffinity implements Policy, CacheBeliefs {
  readonly routing = "prefix";
  readonly caches = this;
  readonly #random: Random;
  readonly #onPrompt: OnPrompt | undefined;
  isAlone = false;
  readonly #blocks = new PromptBlocks();
  /** The servers. A server's slot is its index in the tables. */
  #members: readonly Member[] = [];
  readonly #caches: ServerCaches;
  readonly #sent = new SentPrompts();
  /** The candidates of about the lowest cost, reused by each choice. */
  readonly #cheapest: Member[] = [];
  #matched = new Int32Array();
  #costs = new Float64Array();
  /** The part of continued prompts that is found in the cache where it is expected. */
  readonly #hits = new RunningRatio(assumedHits, assumedTokens);
  /** The part of all prompts that is found in caches. */
  readonly #found = new RunningRatio(0, assumedTokens);
  /** The home of the session of the last choice. Undefined: it was not looked for. */
  #sought: Member | undefined;

  /** `blocks` bounds what is remembered. `onPrompt` is called with each prompt and its server. */
  constructor(blocks: number, random: Random, onPrompt?: OnPrompt) {
    this.#caches = new ServerCaches(blocks);
    this.#random = random;
    this.#onPrompt = onPrompt;
  }

  replace(members: readonly Member[]): void {
    for (const member of this.#members) {
      if (!members.includes(member)) {
        this.forget(member);
        member.slot = undefined;
      }
    }
    this.#members = members;
    const width = assignSlots(members);
    this.#caches.resize(members.length, width);
    if (width > this.#costs.length) {
      this.#matched = new Int32Array(Math.ceil(width / 32) * 32);
      this.#costs = new Float64Array(width);
    }
  }

  choose(candidates: readonly Member[], route: RoutingRequest): Choice | undefined {
    const { request, promptTokens } = route;
    if (request === undefined || this.#members.length < 2) {
      const readers = toReaders(candidates, route);
      return readers.length === 0
        ? undefined
        : { member: lessLoaded(readers, this.#random), uncachedTokens: promptTokens };
    }
    this.#blocks.read(request);
    this.#caches.match(this.#blocks, this.#matched);
    this.#sought = undefined;
    const explores = this.#random.fraction() < exploration;
    const readers = this.#readers(candidates, route);
    if (readers.length === 0) {
      return undefined;
    }
    const member = lessLoaded(explores ? readers : this.#best(readers, route), this.#random);
    return { member, uncachedTokens: this.#uncachedOn(member, promptTokens), sent: this.#send(member, promptTokens) };
  }

  /** Records that the prompt that was read last goes to a server. */
  #send(member: Member, promptTokens: number): SentPrompt {
    const blocks = this.#blocks;
    const slot = toSlot(member);
    const matched = this.#matched[slot] as number;
    const cache = this.#caches.of(slot);
    const sent = this.#sent.keep(blocks, promptTokens);
    sent.usedAt = cache.lastUseOf(sent, matched);
    sent.knownTokens = Math.floor(matched / charactersPerToken);
    const isKnown = this.#uncachedOn(member, promptTokens) <= promptTokens * (1 - newPart);
    sent.isReturn = blocks.isContinued && (isKnown || member === this.#sought);
    this.#caches.use(member, blocks);
    const { hashes, ends, count } = blocks;
    this.#onPrompt?.(member, hashes.subarray(0, 2 * count), ends.subarray(0, count));
    return sent;
  }

  learn({ member, sent }: Choice, { promptTokens, cachedTokens }: CacheReport): void {
    const { slot } = member;
    if (sent === undefined || sent.isOver || slot === undefined) {
      return;
    }
    if (promptTokens > 0) {
      this.#caches.counted.learn(sent.tokens, promptTokens);
    }
    const cache = this.#caches.of(slot);
    if (cachedTokens !== undefined) {
      this.#found.learn(promptTokens, Math.min(cachedTokens, promptTokens));
    }
    if (cachedTokens !== undefined && sent.isReturn) {
      this.#hits.learn(promptTokens, Math.min(cachedTokens, promptTokens));
    }
    if (cachedTokens !== undefined && sent.usedAt !== undefined && cachedTokens < sent.knownTokens * rightPart) {
      cache.loseUntil(sent.usedAt);
    }
    this.#caches.use(member, sent); // a server counts a block as used until the request has ended
    this.#sent.end(sent);
  }

  promptElsewhere(member: Member, hashes: Int32Array, ends: Int32Array): void {
    if (this.#hasChoice(member)) {
      this.#caches.use(member, { hashes, ends, count: ends.length });
    }
  }

  forget(member: Member): void {
    if (member.slot !== undefined) {
      this.#caches.forget(member);
    }
  }

  /** Whether the server is one of several. */
  #hasChoice({ slot }: Member): boolean {
    return slot !== undefined && this.#members.length >= 2;
  }

  /**
   * The candidates of about the lowest cost. In seconds, with tokens of prompts that a server has yet to read, and with
   * running requests, the cost of a server is
   *
   * (unread + 4 × uncached) / 8000 + 0.2 × running + 0.02 × kv / (1 − kv) + 5 × turnover × found² × uncached / 8000
   *
   * `unread` is of requests before this one, `uncached` of this one. `kv` and `found` are parts of one, `turnover` is how
   * much faster the cache turns over than the slowest one, as a part of the mean. The constants are in cost.ts. At its
   * session's home a request pays no turnover: a new prompt costs 0.25 s less there, and of a continued one as much is
   * taken for cached as was found of late.
   */
  #best(candidates: readonly Member[], route: RoutingRequest): readonly Member[] {
    this.#sought = this.#seeksHome(candidates, route) ? homeOf(this.#blocks.session, candidates) : undefined;
    const { promptTokens } = route;
    const [costs, turnovers] = [this.#costs, this.#caches.turnovers];
    const { least, mean } = this.#caches.compareTurnovers(candidates);
    const found = this.#found.value;
    let lowest = Number.POSITIVE_INFINITY;
    for (let at = 0; at < candidates.length; at++) {
      const member = candidates[at] as Member;
      const uncached = this.#uncachedOn(member, promptTokens);
      const turnover = mean === 0 ? 0 : ((turnovers[toSlot(member)] as number) - least) / mean;
      const cost =
        member === this.#sought
          ? this.#costAtHome(member, uncached, promptTokens)
          : estimateCost(member, uncached) + estimateLoss(uncached, turnover, found);
      costs[at] = cost;
      lowest = Math.min(lowest, cost);
    }
    const limit = lowest + Math.max(tieSeconds, lowest * tiePart);
    const cheapest = this.#cheapest;
    let count = 0;
    for (let at = 0; at < candidates.length; at++) {
      if ((costs[at] as number) <= limit) {
        cheapest[count++] = candidates[at] as Member;
      }
    }
    cheapest.length = count;
    return cheapest;
  }

  /** Whether another core, or this core before a restart, may have sent the session to its home. */
  #seeksHome(candidates: readonly Member[], route: RoutingRequest): boolean {
    if (this.isAlone) {
      return true;
    }
    const least = route.promptTokens * (1 - newPart);
    return (
      route.request?.session !== undefined &&
      candidates.every((one) => this.#uncachedOn(one, route.promptTokens) >= least)
    );
  }

  /**
   * The cost on the session's home. For a continued prompt, the home is assumed to have the part of it that was found
   * in caches of late.
   */
  #costAtHome(home: Member, uncached: number, promptTokens: number): number {
    if (!this.#blocks.isContinued) {
      return estimateCost(home, uncached) - nearSeconds;
    }
    return estimateCost(home, Math.min(uncached, promptTokens * (1 - this.#hits.value)));
  }

  /** The candidates that would soon read the prompt. */
  #readers(candidates: readonly Member[], { promptTokens, keeps }: RoutingRequest): readonly Member[] {
    const readers = isAnyBacklogged(candidates)
      ? candidates.filter((member) => member.reads(this.#uncachedOn(member, promptTokens), promptTokens))
      : candidates;
    return keeps === undefined
      ? readers
      : readers.filter((member) => keeps(member, this.#uncachedOn(member, promptTokens)));
  }

  /** Tokens that a server would have to read of the prompt that was read last. */
  #uncachedOn(member: Member, promptTokens: number): number {
    return Math.max(0, promptTokens - Math.floor((this.#matched[toSlot(member)] as number) / charactersPerToken));
  }
}
