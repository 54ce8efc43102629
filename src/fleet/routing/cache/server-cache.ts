import { charactersPerToken } from "../../../../lib/text/estimate-tokens.ts";
import type { KvEvent } from "../../kv-events/events.ts";
import type { BlocksOfText } from "../prompt-blocks.ts";
import { CachedBlocks, type OnChange, type UseCount } from "./cached-blocks.ts";
import { EngineBlocks, type ReadPrompt } from "./engine-blocks.ts";

/** The most blocks of tokens that are followed on one server. */
const mostFollowed = 524_288;

/**
 * A server that reports what leaves its cache is believed to hold this much more than it can. Only this bound removes
 * texts whose blocks were not found among the reported ones.
 */
const followedSlack = 1.15;

/** The beginnings of prompts that one server is believed to have in its cache. */
export class ServerCache {
  readonly #believed: CachedBlocks;
  #followed: EngineBlocks | undefined;

  /** Remembers at most `most` blocks of text. */
  constructor(most: number, onChange: OnChange, count?: UseCount) {
    this.#believed = new CachedBlocks(most, onChange, count);
  }

  /** Blocks of tokens that the server reported. Undefined: it publishes no events. */
  get followed(): number | undefined {
    return this.#followed?.size;
  }

  /** How many blocks of tokens the server has stored so far, by its reports. 0 where it publishes none. */
  get now(): number {
    return this.#followed?.now ?? 0;
  }

  /**
   * How many uses ago the next block to be lost was used. Infinity: there is room, or the server reports what it loses.
   * In the latter case the oldest block is one without reports, and no measure.
   */
  get age(): number {
    return this.#followed === undefined ? this.#believed.age : Number.POSITIVE_INFINITY;
  }

  /**
   * The last use of the prompt's block that ends at this many characters. Undefined: no block ends there, or it is not
   * in the cache.
   */
  lastUseOf({ hashes, ends, count }: BlocksOfText, characters: number): number | undefined {
    let block = characters === 0 ? -1 : count - 1;
    while (block >= 0 && ends[block] !== characters) {
      block--;
    }
    return block < 0 ? undefined : this.#believed.lastUse(hashes[2 * block] as number, hashes[2 * block + 1] as number);
  }

  /** Marks a prompt's blocks as used. The first block is marked last, so that it is lost last. */
  use(prompt: BlocksOfText): void {
    this.#believed.use(prompt);
  }

  clear(): void {
    this.#believed.bound(0);
  }

  /** Loses the least recently used blocks until at most this many tokens are believed. */
  bound(tokens: number): void {
    this.#believed.bound(charactersPerToken * (this.#followed === undefined ? tokens : tokens * followedSlack));
  }

  /** Loses every block whose last use is not later than `usedAt`. */
  loseUntil(usedAt: number): void {
    this.#believed.loseUntil(usedAt);
  }

  /** Applies an event of the server's cache. */
  take(event: Exclude<KvEvent, { kind: "cleared" }>): void {
    this.#followed ??= new EngineBlocks(mostFollowed, (high, low) => this.#believed.drop(high, low));
    if (!this.#followed.take(event)) {
      this.#followed = undefined;
    }
  }

  /** Forgets which blocks of text lie in which blocks of tokens. The believed blocks stay. */
  unfollow(): void {
    this.#followed = undefined;
  }

  /** The server has read a prompt that was sent when the server had stored `since` blocks of tokens. */
  settle(prompt: ReadPrompt, since: number): void {
    this.#followed?.settle(prompt, since);
  }
}
