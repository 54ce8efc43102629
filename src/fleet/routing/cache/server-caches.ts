import { RunningRatio } from "../../servers/choice/running-ratio.ts";
import type { Member } from "../../servers/member.ts";
import { PrefixIndex } from "../prefix-index.ts";
import type { BlocksOfText } from "../prompt-blocks.ts";
import { toSlot } from "../slots.ts";
import { ServerCache } from "./server-cache.ts";

/** Blocks remembered for all servers, as a multiple of the distinct ones: several servers may have the same block. */
const blocksShare = 2;

/** The weight of the initial assumption that token estimates are right, in tokens. */
const assumedTokens = 20_000;

/** The believed contents of each server's cache, by the server's slot, and an index from prompts to servers. */
export class ServerCaches {
  /**
   * Each server's turnover, by its slot: the part of its cache that it loses with one use of a block, or a number
   * proportional to that. 0 while it loses nothing.
   */
  turnovers = new Float64Array();
  /** The ratio of tokens that servers counted to tokens that were estimated. */
  readonly counted = new RunningRatio(1, assumedTokens);
  readonly #remembered: number;
  /** The use counter of all servers, so that their caches can be compared. */
  readonly #count = { uses: 0 };
  readonly #caches: (ServerCache | undefined)[] = [];
  /**
   * Created when something is believed: a single server leaves no choice, and embeddings have no prompt to remember.
   */
  #index: PrefixIndex | undefined;
  #servers = 0;

  /** Remembers about `blocks` blocks. */
  constructor(blocks: number) {
    this.#remembered = blocks;
  }

  /** Sets the number of servers. Their slots are below `width`. */
  resize(servers: number, width: number): void {
    this.#servers = servers;
    if (width > this.turnovers.length) {
      const before = this.turnovers;
      this.turnovers = new Float64Array(width);
      this.turnovers.set(before);
      this.#index?.widen(width);
    }
  }

  /** Writes, for each server, how many characters of the prompt's beginning it is believed to have. */
  match(prompt: BlocksOfText, matched: Int32Array): void {
    if (this.#index === undefined) {
      matched.fill(0);
    } else {
      this.#index.match(prompt, matched);
    }
  }

  /** The cache of the server with this slot. */
  of(slot: number): ServerCache {
    let cache = this.#caches[slot];
    if (cache === undefined) {
      this.#index ??= new PrefixIndex(this.#remembered, this.turnovers.length);
      const index = this.#index;
      const onChange = {
        gained: (high: number, low: number) => index.gain(high, low, slot),
        lost: (high: number, low: number) => index.lose(high, low, slot),
      };
      cache = new ServerCache(Math.ceil((blocksShare * this.#remembered) / this.#servers), onChange, this.#count);
      this.#caches[slot] = cache;
    }
    return cache;
  }

  /** Records that a prompt is used on a server. */
  use(member: Member, prompt: BlocksOfText): void {
    const slot = toSlot(member);
    const cache = this.of(slot);
    cache.use(prompt);
    const { tokens } = member.kv;
    if (tokens !== undefined) {
      cache.bound(tokens / this.counted.value);
    }
    this.turnovers[slot] = 1 / Math.max(1, cache.age);
  }

  /** The lowest and the mean turnover of some servers. */
  compareTurnovers(members: readonly Member[]): { readonly least: number; readonly mean: number } {
    let least = Number.POSITIVE_INFINITY;
    let sum = 0;
    for (const member of members) {
      const turnover = this.turnovers[toSlot(member)] as number;
      least = Math.min(least, turnover);
      sum += turnover;
    }
    return { least, mean: sum / members.length };
  }

  /** A server's cache is empty. */
  forget(member: Member): void {
    const slot = toSlot(member);
    this.#caches[slot]?.clear();
    this.#caches[slot] = undefined;
    this.turnovers[slot] = 0;
  }
}
