import type { KvEvent } from "../../kv-events/events.ts";
import type { Halves } from "../../kv-events/packed.ts";
import type { BlocksOfText } from "../prompt-blocks.ts";
import { BlockTable, none, own } from "./block-table.ts";
import type { OnBlock } from "./cached-blocks.ts";

const firstCapacity = 1024;

// A block's numbers beside its hash: its parent's place and when the parent was stored, the tokens from the prompt's
// start to the block's end, when it was stored, and the text that ends in it, if one is known.
const parent = own;
const parentStored = own + 1;
const depth = own + 2;
const stored = own + 3;
const textHigh = own + 4;
const textLow = own + 5;
const stride = own + 6;

/** How many of the last stored blocks are searched for the end of a prompt. A power of two. */
const recent = 32_768;

/** A prompt that a server has read. */
export interface ReadPrompt extends BlocksOfText {
  readonly characters: number;
  /** The prompt's tokens as the server counted them. */
  readonly tokens: number;
}

/**
 * The blocks of tokens that a server reports in its KV cache. Their hashes are the server's own, and a text's tokens
 * are not known here. But a prompt of n tokens ends in a block with that many tokens up to its end, which was stored
 * after the prompt was sent. If exactly one block matches, it and the blocks before it belong to the prompt. When the
 * server reports that one of them left its cache, the text that ends in it is lost. Of bounded size.
 */
export class EngineBlocks {
  readonly #most: number;
  readonly #onLost: OnBlock;
  /** Blocks stored so far. Wraps around. */
  #stored = 0;
  #blockTokens = 0;
  readonly #table = new BlockTable(stride, firstCapacity);
  /** The places of the last stored blocks, in order of storing, and the tokens up to their ends. */
  readonly #recent = new Int32Array(recent).fill(none);
  readonly #recentDepths = new Int32Array(recent);

  /** Holds at most `most` blocks. `onLost` is called with each text that has left the cache. */
  constructor(most: number, onLost: OnBlock) {
    this.#most = most;
    this.#onLost = onLost;
  }

  /** Blocks stored so far. `settle` takes an earlier value of it as `since`. */
  get now(): number {
    return this.#stored;
  }

  get size(): number {
    return this.#table.size;
  }

  /** Applies an event. Returns false when the server has more blocks than can be followed: nothing is known then. */
  take(event: Exclude<KvEvent, { kind: "cleared" }>): boolean {
    if (event.kind === "removed") {
      for (const hash of event.hashes) {
        this.#remove(hash);
      }
      return true;
    }
    this.#blockTokens = event.blockTokens;
    let before = event.parent === undefined ? undefined : this.#find(event.parent);
    for (const hash of event.hashes) {
      if (this.#table.size >= this.#most) {
        this.clear();
        return false;
      }
      before = this.#store(hash, before);
    }
    return true;
  }

  /** Forgets all blocks. No text counts as lost because of that. */
  clear(): void {
    this.#table.clear();
    this.#recent.fill(none);
  }

  /**
   * Finds the blocks of a prompt that was sent when `since` blocks had been stored, and records which texts end in
   * them. Returns whether it found them.
   */
  settle(prompt: ReadPrompt, since: number): boolean {
    const blockTokens = this.#blockTokens;
    const tokens = blockTokens === 0 ? 0 : prompt.tokens - (prompt.tokens % blockTokens);
    let at = tokens === 0 ? none : this.#findEnd(tokens, since);
    if (at === none) {
      return false;
    }
    const places = this.#table.places;
    for (let block = prompt.count - 1; block >= 0 && at !== none; block--) {
      const end = (((prompt.ends[block] as number) * prompt.tokens) / prompt.characters) | 0;
      while (at !== none && (places[at + depth] as number) - blockTokens >= Math.max(1, end)) {
        at = this.#before(at);
      }
      if (at !== none) {
        places[at + textHigh] = prompt.hashes[2 * block] as number;
        places[at + textLow] = prompt.hashes[2 * block + 1] as number;
      }
    }
    return true;
  }

  /** The only block that ends after `tokens` tokens and was stored after `since`. `none`: there is none, or several. */
  #findEnd(tokens: number, since: number): number {
    let found = none;
    const count = Math.min((this.#stored - since) | 0, recent);
    const from = Math.max((this.#stored - recent) | 0, since);
    for (let order = 0; order < count; order++) {
      const index = (from + order) & (recent - 1);
      if (this.#recentDepths[index] !== tokens) {
        continue;
      }
      const at = this.#recent[index] as number;
      if (at === none || this.#table.places[at + stored] !== ((from + order) | 0)) {
        continue; // it was removed or stored again since
      }
      if (found !== none) {
        return none;
      }
      found = at;
    }
    return found;
  }

  #before(at: number): number {
    const before = this.#table.places[at + parent] as number;
    const isThere = before !== none && this.#table.places[before + stored] === this.#table.places[at + parentStored];
    return isThere ? before : none;
  }

  /** Records a block. `before` is `none` where the preceding block is unknown, and undefined at a prompt's start. */
  #store(hash: Halves, before: number | undefined): number {
    const known = this.#find(hash);
    const at = known === none ? this.#insert(hash) : known;
    const places = this.#table.places;
    const tokens = before === undefined ? 0 : before === none ? none : (places[before + depth] as number);
    places[at + parent] = before ?? none;
    places[at + parentStored] = before === undefined || before === none ? 0 : (places[before + stored] as number);
    places[at + depth] = tokens === none ? none : tokens + this.#blockTokens;
    places[at + stored] = this.#stored;
    this.#recent[this.#stored & (recent - 1)] = at;
    this.#recentDepths[this.#stored & (recent - 1)] = places[at + depth] as number;
    this.#stored = (this.#stored + 1) | 0;
    return at;
  }

  #remove(hash: Halves): void {
    const at = this.#find(hash);
    if (at === none) {
      return;
    }
    const places = this.#table.places;
    this.#table.remove(at);
    places[at + stored] = none;
    const [lostHigh, lostLow] = [places[at + textHigh] as number, places[at + textLow] as number];
    if (lostHigh !== 0 || lostLow !== 0) {
      this.#onLost(lostHigh, lostLow);
    }
  }

  #find({ high, low }: Halves): number {
    return this.#table.find(high, low);
  }

  #insert({ high, low }: Halves): number {
    const at = this.#table.insert(high, low);
    this.#table.places[at + textHigh] = 0;
    this.#table.places[at + textLow] = 0;
    return at;
  }
}
