import { charactersPerToken } from "../../../../lib/text/estimate-tokens.ts";
import type { KvEvent } from "../../kv-events/events.ts";
import type { BlocksOfText } from "../prompt-blocks.ts";
import { CachedBlocks, type OnChange, type UseCount } from "./cached-blocks.ts";
import { EngineBlocks, type ReadPrompt } from "./engine-blocks.ts";

/** The most blocks of tokens that are followed on one server. */
const mostFollowed = 524_288;

/**
 * How much more than it holds a server is believed to hold that tells what leaves its cache: texts whose blocks were
 * not found among those that it told of are lost by this bound alone.
 */
const followedSlack = 1.15;

/** The beginnings of prompts that one server is believed to have in its cache. */
export class ServerCache {
  readonly #believed: CachedBlocks;
  #followed: EngineBlocks | undefined;

  /** Remembers `most` blocks of text at most. */
  constructor(most: number, onChange: OnChange, count?: UseCount) {
    this.#believed = new CachedBlocks(most, onChange, count);
  }

  /** Blocks of tokens that the server has told of. Undefined: it tells nothing. */
  get followed(): number | undefined {
    return this.#followed?.size;
  }

  /** How many blocks of tokens the server has stored so far, as it tells; 0 where it tells nothing. */
  get now(): number {
    return this.#followed?.now ?? 0;
  }

  /**
   * How many uses ago the block was used that is lost next. Infinity: there is room, or the server tells what it loses; what
   * it did not tell of is then the oldest, and no measure.
   */
  get age(): number {
    return this.#followed === undefined ? this.#believed.age : Number.POSITIVE_INFINITY;
  }

  /** The last use of a prompt's block that ends at so many characters. Undefined: there is none, or it is not there. */
  lastUseOf({ hashes, ends, count }: BlocksOfText, characters: number): number | undefined {
    let block = characters === 0 ? -1 : count - 1;
    while (block >= 0 && ends[block] !== characters) {
      block--;
    }
    return block < 0 ? undefined : this.#believed.lastUse(hashes[2 * block] as number, hashes[2 * block + 1] as number);
  }

  /** Notes a prompt's blocks as used, its beginning last, so that it is lost last. */
  use(prompt: BlocksOfText): void {
    this.#believed.use(prompt);
  }

  /** Loses every block. */
  clear(): void {
    this.#believed.bound(0);
  }

  /** Loses what was used longest ago, until no more is believed than so many tokens. */
  bound(tokens: number): void {
    this.#believed.bound(charactersPerToken * (this.#followed === undefined ? tokens : tokens * followedSlack));
  }

  /** Loses every block that was last used at that use or before. */
  loseUntil(usedAt: number): void {
    this.#believed.loseUntil(usedAt);
  }

  /** Takes what the server tells of its cache. */
  take(event: Exclude<KvEvent, { kind: "cleared" }>): void {
    this.#followed ??= new EngineBlocks(mostFollowed, (high, low) => this.#believed.drop(high, low));
    if (!this.#followed.take(event)) {
      this.#followed = undefined;
    }
  }

  /** Which block of text is in which block of tokens is no longer known; what is believed stays. */
  unfollow(): void {
    this.#followed = undefined;
  }

  /** The server has read a prompt, which was sent when it had stored `since` blocks of tokens. */
  settle(prompt: ReadPrompt, since: number): void {
    this.#followed?.settle(prompt, since);
  }
}
