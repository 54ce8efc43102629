import type { FleetRequest } from "../interface.ts";

/** Blocks of each size; four sizes, each four times the one before, reach over 340,000 characters. */
const blocksOfSize = 64;
const sizes = [64, 256, 1024, 4096];
const maxBlocks = blocksOfSize * sizes.length;

/** Characters of a block that are looked at, evenly spread. */
const samples = 16;

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
    let at = start;
    while (at < end) {
      if (this.count === maxBlocks) return;
      const stop = Math.min(end, this.#blockEnd);
      for (at += (this.#stride - (at % this.#stride)) % this.#stride; at < stop; at += this.#stride) {
        this.#mix(text.charCodeAt(at - start));
      }
      at = stop;
      this.#position = stop;
      if (stop === this.#blockEnd) this.#closeBlock();
    }
  }

  #closeBlock(): void {
    this.hashes[2 * this.count] = this.#high;
    this.hashes[2 * this.count + 1] = this.#low;
    this.ends[this.count] = this.#blockEnd;
    this.count++;
    this.#openBlock();
  }

  #openBlock(): void {
    const size = sizes[Math.floor(this.count / blocksOfSize)] ?? 0;
    this.#blockEnd = this.#position + size;
    this.#stride = size / samples;
  }

  /** Two multiplicative hashes side by side: https://github.com/aappleby/smhasher/wiki/MurmurHash3 has the constants. */
  #mix(value: number): void {
    this.#high = Math.imul(this.#high ^ value, 0xcc9e2d51);
    this.#high ^= this.#high >>> 15;
    this.#low = Math.imul(this.#low ^ value, 0x1b873593);
    this.#low ^= this.#low >>> 13;
  }
}
