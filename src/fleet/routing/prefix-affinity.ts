import type { Random } from "../../../lib/ids/random.ts";
import { charactersPerToken } from "../../../lib/text/estimate-tokens.ts";
import type { KvEvent } from "../kv-events/events.ts";
import type { Member } from "../servers/member.ts";
import { ServerCache } from "./cache/server-cache.ts";
import { estimateCost } from "./cost.ts";
import { hashText } from "./hash-text.ts";
import { lessLoaded } from "./least-load.ts";
import {
  type BlocksOfText,
  type Choice,
  type OnPrompt,
  type Policy,
  type RoutingRequest,
  type Told,
  toReaders,
} from "./policy.ts";
import { PrefixIndex } from "./prefix-index.ts";
import { PromptBlocks } from "./prompt-blocks.ts";
import { RunningRatio } from "./running-ratio.ts";

/** The part of requests that go to any server, to learn and to spread prompts that many send. */
const exploration = 0.002;

/** A cost this near to the lowest, in seconds or as a part of it, counts as equal. */
const tieSeconds = 0.005;
const tiePart = 0.02;

/** Blocks remembered for all servers together, as a multiple of distinct blocks: several servers may have the same block. */
const blocksShare = 2;

/** A belief was right when at least this part of the expected tokens was in the cache. */
const rightPart = 0.75;

/** How much more than the cheapest the home of a session that begins may cost, in seconds: it will come back to it. */
const nearSeconds = 0.25;

/** A prompt is new to a server that is believed to have a smaller part of it. */
const newPart = 0.25;

/** What is assumed before anything is known: half of a prompt that goes on is found, with the weight of a few prompts. */
const assumedHits = 0.5;
const assumedTokens = 20_000;

/**
 * Chooses the server that would be done first, given its prefix cache and its work. So a conversation returns to the
 * server that has read it, until that server is too busy for the cache to be worth the wait.
 */
export class PrefixAffinity implements Policy {
  readonly routing = "prefix";
  readonly #remembered: number;
  readonly #random: Random;
  readonly #onPrompt: OnPrompt | undefined;
  isAlone = false;
  readonly #blocks = new PromptBlocks();
  /** Numbers of the servers in the index. */
  readonly #slots = new Map<Member, number>();
  /** Made at the first choice that needs it: a single server leaves no choice, and embeddings have no prompt to remember. */
  #index: PrefixIndex | undefined;
  /** What each server is believed to have in its cache. */
  readonly #caches = new Map<Member, ServerCache>();
  #matched = new Int32Array();
  #costs = new Float64Array();
  /** The part of prompts that go on that is found in a cache where it is expected. */
  readonly #hits = new RunningRatio(assumedHits, assumedTokens);
  /** Tokens as servers count them to those estimated. */
  readonly #counted = new RunningRatio(1, assumedTokens);
  /** The home of the session that was chosen for last. Undefined: it was not asked for. */
  #sought: Member | undefined;

  /** `blocks` bounds what is remembered; `onPrompt` is called with each prompt and its server. */
  constructor(blocks: number, random: Random, onPrompt?: OnPrompt) {
    this.#remembered = blocks;
    this.#random = random;
    this.#onPrompt = onPrompt;
  }

  replace(members: readonly Member[]): void {
    for (const member of this.#slots.keys()) {
      if (members.includes(member)) {
        continue;
      }
      this.forget(member);
      this.#slots.delete(member);
    }
    const taken = new Set(this.#slots.values());
    let free = 0;
    for (const member of members) {
      if (this.#slots.has(member)) {
        continue;
      }
      while (taken.has(free)) {
        free++;
      }
      this.#slots.set(member, free++);
    }
    const width = Math.max(0, ...this.#slots.values()) + 1;
    if (width <= this.#costs.length) {
      return;
    }
    this.#index?.widen(width);
    this.#matched = new Int32Array(Math.ceil(width / 32) * 32);
    this.#costs = new Float64Array(width);
  }

  choose(candidates: readonly Member[], route: RoutingRequest): Choice | undefined {
    const { request } = route;
    if (request === undefined || this.#slots.size < 2) {
      const readers = toReaders(candidates);
      return readers.length === 0
        ? undefined
        : { member: lessLoaded(readers, this.#random), uncachedTokens: route.promptTokens };
    }
    this.#index ??= new PrefixIndex(this.#remembered, this.#costs.length);
    this.#blocks.read(request);
    this.#index.match(this.#blocks, this.#matched);
    this.#sought = undefined;
    const explores = this.#random.fraction() < exploration;
    const readers = this.#readers(candidates, route);
    if (readers.length === 0) {
      return undefined;
    }
    const member = lessLoaded(explores ? readers : this.#best(readers, route), this.#random);
    const slot = this.#slots.get(member) as number;
    const uncachedTokens = this.#uncached(slot, route);
    const matched = this.#matched[slot] as number;
    const { hashes, ends, count } = this.#blocks;
    const prompt = { hashes: hashes.subarray(0, 2 * count), ends: ends.subarray(0, count) };
    const cache = this.#cacheOf(member, slot);
    const usedAt = this.#use(member, cache, prompt, matched);
    this.#index.add(this.#blocks, slot);
    this.#onPrompt?.(member, prompt.hashes, prompt.ends);
    const isKnown = uncachedTokens <= route.promptTokens * (1 - newPart);
    const known = {
      tokens: Math.floor(matched / charactersPerToken),
      usedAt,
      isReturn: this.#blocks.isContinued && (isKnown || member === this.#sought),
      prompt: {
        hashes: prompt.hashes.slice(),
        ends: prompt.ends.slice(),
        characters: route.promptTokens * charactersPerToken,
        tokens: route.promptTokens,
      },
      since: cache.now,
    };
    return { member, uncachedTokens, known };
  }

  learn({ member, known }: Choice, { promptTokens, cachedTokens }: Told): void {
    const slot = this.#slots.get(member);
    if (known === undefined || slot === undefined) {
      return;
    }
    if (promptTokens > 0) {
      this.#counted.learn(known.prompt.tokens, promptTokens);
    }
    const cache = this.#cacheOf(member, slot);
    if (cachedTokens !== undefined && known.isReturn) {
      this.#hits.learn(promptTokens, Math.min(cachedTokens, promptTokens));
    }
    if (cachedTokens !== undefined && known.usedAt !== undefined && cachedTokens < known.tokens * rightPart) {
      cache.loseUntil(known.usedAt);
    }
    cache.settle({ ...known.prompt, tokens: promptTokens }, known.since);
    this.#take(member, slot, known.prompt); // a server counts a block as used until the request has ended
  }

  happened(member: Member, events: readonly KvEvent[]): void {
    const slot = this.#slots.get(member);
    if (slot === undefined || this.#slots.size < 2) {
      return;
    }
    for (const event of events) {
      if (event.kind === "cleared") {
        this.forget(member);
      } else {
        this.#cacheOf(member, slot).take(event);
      }
    }
  }

  lostTrack(member: Member): void {
    this.#caches.get(member)?.unfollow();
  }

  heard(member: Member, hashes: Int32Array, ends: Int32Array): void {
    const slot = this.#slots.get(member);
    if (slot === undefined || this.#slots.size < 2) {
      return;
    }
    this.#take(member, slot, { hashes, ends });
  }

  /** Notes that a server has read a prompt, whoever sent it. */
  #take(member: Member, slot: number, prompt: BlocksOfText): void {
    this.#index ??= new PrefixIndex(this.#remembered, this.#costs.length);
    this.#use(member, this.#cacheOf(member, slot), prompt, 0);
    this.#index.addHashes(prompt.hashes, slot);
  }

  #cacheOf(member: Member, slot: number): ServerCache {
    let cache = this.#caches.get(member);
    if (cache === undefined) {
      const most = Math.ceil((blocksShare * this.#remembered) / this.#slots.size);
      cache = new ServerCache(most, (high, low) => this.#index?.lose(high, low, slot));
      this.#caches.set(member, cache);
    }
    return cache;
  }

  /** Notes a prompt's blocks as used. Returns the last matched block's use before. */
  #use({ kv }: Member, cache: ServerCache, prompt: BlocksOfText, matched: number): number | undefined {
    const usedAt = cache.use(prompt, matched);
    if (kv.tokens !== undefined) {
      cache.bound(kv.tokens / this.#counted.value);
    }
    return usedAt;
  }

  forget(member: Member): void {
    const slot = this.#slots.get(member);
    if (slot !== undefined) {
      this.#index?.forget(slot);
      this.#caches.delete(member);
    }
  }

  /** The candidates whose cost is about the lowest. */
  #best(candidates: readonly Member[], route: RoutingRequest): readonly Member[] {
    this.#sought = this.#seeksHome(candidates, route) ? this.#home(candidates) : undefined;
    let lowest = Number.POSITIVE_INFINITY;
    for (const [index, member] of candidates.entries()) {
      const uncached = this.#uncachedOn(member, route);
      const cost = member === this.#sought ? this.#costAtHome(member, uncached, route) : estimateCost(member, uncached);
      this.#costs[index] = cost;
      lowest = Math.min(lowest, cost);
    }
    const limit = lowest + Math.max(tieSeconds, lowest * tiePart);
    return candidates.filter((_, index) => (this.#costs[index] as number) <= limit);
  }

  /** Whether another core, or this one before it was started anew, may have sent the session to its home. */
  #seeksHome(candidates: readonly Member[], route: RoutingRequest): boolean {
    if (this.isAlone) {
      return true;
    }
    const least = route.promptTokens * (1 - newPart);
    return route.request?.session !== undefined && candidates.every((one) => this.#uncachedOn(one, route) >= least);
  }

  /** The cost on the session's home, which has as much of a prompt that goes on as such prompts were found to have of late. */
  #costAtHome(home: Member, uncached: number, { promptTokens }: RoutingRequest): number {
    if (!this.#blocks.isContinued) {
      return estimateCost(home, uncached) - nearSeconds;
    }
    return estimateCost(home, Math.min(uncached, promptTokens * (1 - this.#hits.value)));
  }

  /** The server to which every core sends a session without asking the others (rendezvous hashing). */
  #home(candidates: readonly Member[]): Member {
    const rank = ({ id }: Member) => hashText(id, this.#blocks.session);
    return candidates.reduce((one, other) => (rank(other) > rank(one) ? other : one));
  }

  /** The candidates that would soon read the prompt. */
  #readers(candidates: readonly Member[], route: RoutingRequest): readonly Member[] {
    return candidates.some((member) => member.isBacklogged)
      ? candidates.filter((member) => member.reads(this.#uncachedOn(member, route), route.promptTokens))
      : candidates;
  }

  #uncachedOn(member: Member, route: RoutingRequest): number {
    return this.#uncached(this.#slots.get(member) as number, route);
  }

  #uncached(slot: number, { promptTokens }: RoutingRequest): number {
    return Math.max(0, promptTokens - Math.floor((this.#matched[slot] ?? 0) / charactersPerToken));
  }
}
