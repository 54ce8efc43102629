import type { Random } from "../../../lib/ids/random.ts";
import { charactersPerToken } from "../../../lib/text/estimate-tokens.ts";
import type { KvEvent } from "../kv-events/events.ts";
import type { Member } from "../servers/member.ts";
import { ServerCache } from "./cache/server-cache.ts";
import { estimateCost, estimateLoss } from "./cost.ts";
import { hashText } from "./hash-text.ts";
import { lessLoaded } from "./least-load.ts";
import {
  type Choice,
  isAnyBacklogged,
  type OnPrompt,
  type Policy,
  type RoutingRequest,
  type Told,
  toReaders,
} from "./policy.ts";
import { PrefixIndex } from "./prefix-index.ts";
import { type BlocksOfText, PromptBlocks } from "./prompt-blocks.ts";
import { RunningRatio } from "./running-ratio.ts";
import { type SentPrompt, SentPrompts } from "./sent-prompts.ts";

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
  /** The servers, each of which has its number in the index as its slot. */
  #members: readonly Member[] = [];
  /** Made at the first choice that needs it: a single server leaves no choice, and embeddings have no prompt to remember. */
  #index: PrefixIndex | undefined;
  /** What each server is believed to have in its cache, by its slot. */
  readonly #caches: (ServerCache | undefined)[] = [];
  /** Uses of blocks on all servers, by which their caches are compared. */
  readonly #count = { uses: 0 };
  /** The part of its cache that each server loses by one use of a block, by its slot, or in proportion to that; 0 while it loses nothing. */
  #turnovers = new Float64Array();
  readonly #sent = new SentPrompts();
  /** The candidates of about the lowest cost, at the choice that is made. */
  readonly #cheapest: Member[] = [];
  #matched = new Int32Array();
  #costs = new Float64Array();
  /** The part of prompts that go on that is found in a cache where it is expected. */
  readonly #hits = new RunningRatio(assumedHits, assumedTokens);
  /** The part of all prompts that is found in caches. */
  readonly #found = new RunningRatio(0, assumedTokens);
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
    for (const member of this.#members) {
      if (!members.includes(member)) {
        this.forget(member);
        member.slot = undefined;
      }
    }
    const stay = this.#members.filter(({ slot }) => slot !== undefined);
    const taken = new Set(stay.map(({ slot }) => slot));
    let free = 0;
    for (const member of members) {
      if (stay.includes(member)) {
        continue;
      }
      while (taken.has(free)) {
        free++;
      }
      member.slot = free++;
    }
    this.#members = members;
    const width = Math.max(0, ...members.map(toSlot)) + 1;
    if (width <= this.#costs.length) {
      return;
    }
    this.#index?.widen(width);
    this.#matched = new Int32Array(Math.ceil(width / 32) * 32);
    this.#costs = new Float64Array(width);
    const turnovers = this.#turnovers;
    this.#turnovers = new Float64Array(width);
    this.#turnovers.set(turnovers);
  }

  choose(candidates: readonly Member[], route: RoutingRequest): Choice | undefined {
    const { request, promptTokens } = route;
    if (request === undefined || this.#members.length < 2) {
      const readers = toReaders(candidates, route);
      return readers.length === 0
        ? undefined
        : { member: lessLoaded(readers, this.#random), uncachedTokens: promptTokens };
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
    return { member, uncachedTokens: this.#uncachedOn(member, promptTokens), sent: this.#send(member, promptTokens) };
  }

  /** Notes that the prompt that was read last goes to a server. */
  #send(member: Member, promptTokens: number): SentPrompt {
    const blocks = this.#blocks;
    const slot = toSlot(member);
    const matched = this.#matched[slot] as number;
    const cache = this.#cacheOf(slot);
    const sent = this.#sent.keep(blocks, promptTokens);
    sent.usedAt = lastUse(cache, sent, matched);
    sent.knownTokens = Math.floor(matched / charactersPerToken);
    sent.since = cache.now;
    const isKnown = this.#uncachedOn(member, promptTokens) <= promptTokens * (1 - newPart);
    sent.isReturn = blocks.isContinued && (isKnown || member === this.#sought);
    this.#use(member, cache, blocks);
    this.#index?.add(blocks, slot);
    const { hashes, ends, count } = blocks;
    this.#onPrompt?.(member, hashes.subarray(0, 2 * count), ends.subarray(0, count));
    return sent;
  }

  learn({ member, sent }: Choice, { promptTokens, cachedTokens }: Told): void {
    const { slot } = member;
    if (sent === undefined || sent.isOver || slot === undefined) {
      return;
    }
    if (promptTokens > 0) {
      this.#counted.learn(sent.tokens, promptTokens);
    }
    const cache = this.#cacheOf(slot);
    if (cachedTokens !== undefined) {
      this.#found.learn(promptTokens, Math.min(cachedTokens, promptTokens));
    }
    if (cachedTokens !== undefined && sent.isReturn) {
      this.#hits.learn(promptTokens, Math.min(cachedTokens, promptTokens));
    }
    if (cachedTokens !== undefined && sent.usedAt !== undefined && cachedTokens < sent.knownTokens * rightPart) {
      cache.loseUntil(sent.usedAt);
    }
    sent.tokens = promptTokens;
    cache.settle(sent, sent.since);
    // A server counts a block as used until the request has ended. What was not lost meanwhile is in the index.
    this.#index?.addHashes(sent, this.#use(member, cache, sent), slot);
    this.#sent.end(sent);
  }

  happened(member: Member, events: readonly KvEvent[]): void {
    const { slot } = member;
    if (slot === undefined || this.#members.length < 2) {
      return;
    }
    for (const event of events) {
      if (event.kind === "cleared") {
        this.forget(member);
      } else {
        this.#cacheOf(slot).take(event);
      }
    }
  }

  lostTrack({ slot }: Member): void {
    if (slot !== undefined) {
      this.#caches[slot]?.unfollow();
    }
  }

  heard(member: Member, hashes: Int32Array, ends: Int32Array): void {
    const { slot } = member;
    if (slot === undefined || this.#members.length < 2) {
      return;
    }
    const prompt = { hashes, ends, count: ends.length };
    this.#index ??= new PrefixIndex(this.#remembered, this.#costs.length);
    this.#use(member, this.#cacheOf(slot), prompt);
    this.#index.addHashes(prompt, 0, slot);
  }

  #cacheOf(slot: number): ServerCache {
    let cache = this.#caches[slot];
    if (cache === undefined) {
      const most = Math.ceil((blocksShare * this.#remembered) / this.#members.length);
      cache = new ServerCache(most, (high, low) => this.#index?.lose(high, low, slot), this.#count);
      this.#caches[slot] = cache;
    }
    return cache;
  }

  /** Notes a prompt's blocks as used. Returns how many of the first were there. */
  #use({ kv, slot }: Member, cache: ServerCache, prompt: BlocksOfText): number {
    const had = cache.use(prompt);
    const { tokens } = kv;
    if (tokens !== undefined) {
      cache.bound(tokens / this.#counted.value);
    }
    this.#turnovers[slot as number] = 1 / Math.max(1, cache.age);
    return had;
  }

  forget(member: Member): void {
    const { slot } = member;
    if (slot !== undefined) {
      this.#index?.forget(slot);
      this.#caches[slot] = undefined;
      this.#turnovers[slot] = 0;
    }
  }

  /** The candidates whose cost is about the lowest. */
  #best(candidates: readonly Member[], route: RoutingRequest): readonly Member[] {
    this.#sought = this.#seeksHome(candidates, route) ? this.#home(candidates) : undefined;
    const { promptTokens } = route;
    const [costs, turnovers] = [this.#costs, this.#turnovers];
    let slowest = Number.POSITIVE_INFINITY;
    let sum = 0;
    for (let at = 0; at < candidates.length; at++) {
      const turnover = turnovers[toSlot(candidates[at] as Member)] as number;
      slowest = Math.min(slowest, turnover);
      sum += turnover;
    }
    const perMean = sum === 0 ? 0 : candidates.length / sum;
    const found = this.#found.value;
    let lowest = Number.POSITIVE_INFINITY;
    for (let at = 0; at < candidates.length; at++) {
      const member = candidates[at] as Member;
      const uncached = this.#uncachedOn(member, promptTokens);
      const turnover = ((turnovers[toSlot(member)] as number) - slowest) * perMean;
      const cost =
        member === this.#sought
          ? this.#costAtHome(member, uncached, promptTokens)
          : estimateCost(member, uncached) + estimateLoss(uncached, turnover, found);
      costs[at] = cost;
      lowest = Math.min(lowest, cost);
    }
    const limit = lowest + Math.max(tieSeconds, lowest * tiePart);
    const cheapest = this.#cheapest;
    cheapest.length = 0;
    for (let at = 0; at < candidates.length; at++) {
      if ((costs[at] as number) <= limit) {
        cheapest.push(candidates[at] as Member);
      }
    }
    return cheapest;
  }

  /** Whether another core, or this one before it was started anew, may have sent the session to its home. */
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

  /** The cost on the session's home, which has as much of a prompt that goes on as such prompts were found to have of late. */
  #costAtHome(home: Member, uncached: number, promptTokens: number): number {
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
  #readers(candidates: readonly Member[], { promptTokens, keeps }: RoutingRequest): readonly Member[] {
    const readers = isAnyBacklogged(candidates)
      ? candidates.filter((member) => member.reads(this.#uncachedOn(member, promptTokens), promptTokens))
      : candidates;
    return keeps === undefined
      ? readers
      : readers.filter((member) => keeps(member, this.#uncachedOn(member, promptTokens)));
  }

  /** Tokens of the prompt that was read last that a server would have to read. */
  #uncachedOn(member: Member, promptTokens: number): number {
    return Math.max(0, promptTokens - Math.floor((this.#matched[toSlot(member)] as number) / charactersPerToken));
  }
}

function toSlot({ slot }: Member): number {
  return slot as number;
}

/** The last use of a prompt's block that ends at so many characters. Undefined: there is none, or it is not in the cache. */
function lastUse(cache: ServerCache, { hashes, ends, count }: BlocksOfText, matched: number): number | undefined {
  let block = matched === 0 ? -1 : count - 1;
  while (block >= 0 && ends[block] !== matched) {
    block--;
  }
  return block < 0 ? undefined : cache.lastUse(hashes[2 * block] as number, hashes[2 * block + 1] as number);
}
