import type { FleetRequest } from "../interface.ts";

/** Blocks of each size. All together reach over 340,000 characters. */
const blocksOfSize = 64;

/** The sizes, and the distance of the characters that are looked at. */
const sizes = [
  { size: 64, stride: 4 },
  { size: 256, stride: 32 },
  { size: 1024, stride: 128 },
  { size: 4096, stride: 512 },
] as const;
/** The most blocks of a prompt. */
export const maxBlocks = blocksOfSize * sizes.length;

/** Of two multiplicative hashes (FNV-1a) side by side, which make one of 64 bits. */
const highFactor = 0x01000193;
const lowFactor = 0x85ebca6b;

/**
 * The beginning of a prompt as a chain of hashes: each stands for its block and all before it, so that
 * prompts with equal hashes begin alike. Blocks grow with the distance from the start, and of each only
 * some characters are looked at, beside the length of every text: a long prompt costs microseconds. A
 * rare mistake sends a request to a server that does not have its beginning in the cache, nothing worse.
 */
export class PromptBlocks {
  /** Blocks that the prompt fills. */
  count = 0;
  /** Two halves a block. */
  readonly hashes = new Uint32Array(2 * maxBlocks);
  /** Where each block ends, in characters from the start. */
  readonly ends = new Uint32Array(maxBlocks);
  #high = 0;
  #low = 0;
  #position = 0;
  #blockEnd = 0;
  #stride = 0;

  /** Reads a prompt in place of the one before. */
  read(request: FleetRequest): void {
    this.count = 0;
    this.#position = 0;
    this.#high = 0x9e3779b9;
    this.#low = 0x85ebca6b;
    this.#openBlock();
    this.#addText(request.cacheSalt ?? "");
    this.#restart();
    const { prompt } = request;
    if (prompt.case === "text") {
      this.#addText(prompt.value);
      return;
    }
    for (const { name, description, parametersJson } of prompt.value.tools) {
      this.#mix(name.length);
      this.#addText(description);
      this.#addText(parametersJson);
    }
    for (const { role, text, reasoning, toolCalls } of prompt.value.messages) {
      this.#mix(role);
      this.#addText(reasoning);
      this.#addText(text);
      for (const call of toolCalls) this.#addText(call.argumentsJson);
      if (this.count === maxBlocks) return;
    }
  }

  /** The salt seeds the hashes but takes no room of the prompt. */
  #restart(): void {
    this.count = 0;
    this.#position = 0;
    this.#openBlock();
  }

  #addText(text: string): void {
    this.#mix(text.length);
    const start = this.#position;
    const end = start + text.length;
    while (this.#position < end && this.count < maxBlocks) {
      const stop = Math.min(end, this.#blockEnd);
      this.#sample(text, start, stop);
      this.#position = stop;
      if (stop === this.#blockEnd) this.#closeBlock();
    }
  }

  /** Mixes in what is looked at up to a place, of a text that starts at another. */
  #sample(text: string, start: number, stop: number): void {
    const stride = this.#stride;
    let high = this.#high;
    let low = this.#low;
    for (let at = Math.ceil(this.#position / stride) * stride; at < stop; at += stride) {
      const value = text.charCodeAt(at - start);
      high = Math.imul(high ^ value, highFactor);
      low = Math.imul(low ^ value, lowFactor);
    }
    this.#high = high;
    this.#low = low;
  }

  #closeBlock(): void {
    this.hashes[2 * this.count] = spread(this.#high);
    this.hashes[2 * this.count + 1] = spread(this.#low);
    this.ends[this.count] = this.#blockEnd;
    this.count++;
    this.#openBlock();
  }

  #openBlock(): void {
    const { size, stride } = sizes[Math.floor(this.count / blocksOfSize)] ?? sizes[0];
    this.#blockEnd = this.#position + size;
    this.#stride = stride;
  }

  #mix(value: number): void {
    this.#high = Math.imul(this.#high ^ value, highFactor);
    this.#low = Math.imul(this.#low ^ value, lowFactor);
  }
}

/** Lets every bit of a hash depend on all of it. */
function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35) >>> 0;
}
