import { type Block, blockSize } from "./kv-cache.ts";

/** The GPU work of one generation, or of one input to embed. */
export interface Work {
  /** At least one token. */
  readonly prompt: readonly number[];
  /** The output tokens, which the simulator knows beforehand. Empty: the prompt is only read. */
  readonly output: readonly number[];
  /** Only equal salts share prefixes. */
  readonly salt: number;
  /** Output tokens after which the sequence hangs and keeps its place until it is aborted. */
  readonly stallAt: number | undefined;
  /** Called with new output tokens: `from` up to but not including `to`. Called once for a prompt that is only read. */
  progress(from: number, to: number): void;
}

/** One generation on the GPU, and its progress. */
export class Sequence {
  readonly work: Work;
  state: "waiting" | "running" | "finished" | "aborted" = "waiting";
  /** Tokens of prompt and output whose attention state is in KV memory. */
  computed = 0;
  /** Output tokens so far, and how many of them were reported. */
  produced = 0;
  reported = 0;
  /** Prompt tokens that came from the prefix cache. Undefined: it has not run yet. */
  cached: number | undefined;
  /** Tokens that the current step computes. */
  scheduled = 0;
  blocks: Block[] = [];
  readonly #hashes: number[] = [];

  constructor(work: Work) {
    this.work = work;
  }

  /** The tokens of prompt and output so far. */
  get length(): number {
    return this.work.prompt.length + this.produced;
  }

  get stalled(): boolean {
    return this.work.stallAt !== undefined && this.produced >= this.work.stallAt;
  }

  /** A hash of all tokens up to the end of a full block. Equal hashes mean equal prefixes. */
  blockHash(index: number): number {
    for (let next = this.#hashes.length; next <= index; next++) {
      this.#hashes.push(this.#chain(this.#hashes[next - 1] ?? this.work.salt, next * blockSize));
    }
    return this.#hashes[index] ?? 0;
  }

  /** Hashes have 52 bits, nearly as many as a number holds exactly: collisions would be wrong cache hits. */
  #chain(parent: number, from: number): number {
    let low = parent | 0;
    let high = (parent / 4_294_967_296) | 0;
    for (let at = from; at < from + blockSize; at++) {
      const token = this.#tokenAt(at);
      low = Math.imul(low ^ token, 0x85ebca6b);
      low ^= low >>> 13;
      high = Math.imul(high + token, 0xc2b2ae35) ^ low;
    }
    return (high & 0xfffff) * 4_294_967_296 + (low >>> 0);
  }

  #tokenAt(at: number): number {
    const { prompt, output } = this.work;
    return (at < prompt.length ? prompt[at] : output[at - prompt.length]) ?? 0;
  }
}
