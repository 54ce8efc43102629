import { Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import type { FleetRequest } from "../interface.ts";

/** Characters of the smallest blocks. */
const smallestBlock = 64;

/** A block is between this part of all that is before it and half of it; the first ones are of the smallest size. */
const blocksOfSize = 8;

/**
 * The first few characters of every eight are looked at, and in larger blocks, of each half: near to each
 * other, and so in memory. Prompts that differ mostly do so early.
 */
const sample = 4;
const closeSpacing = 8;

/** Blocks of these sizes alone that reach over 500,000 characters. */
const sizedBlocks = 88;

/** The most blocks of a prompt. */
export const maxBlocks = 224;

/** A block also ends where a message does, unless it would be a smaller part than this of all that is before its end. */
const smallestPart = 1 / 64;

/** Of two multiplicative hashes (FNV-1a) side by side, which make one of 64 bits. */
const highFactor = 0x01000193;
const lowFactor = 0x85ebca6b;

/**
 * The beginning of a prompt as a chain of hashes: each stands for its block and all before it, so that
 * prompts with equal hashes begin alike. Blocks grow with the distance from the start, to an eighth of
 * it, and of each only some characters are looked at, beside the length of every text: a long prompt
 * costs microseconds. A rare mistake sends a request to a server that does not have its beginning in the
 * cache, nothing worse.
 */
export class PromptBlocks {
  /** Blocks that the prompt fills. */
  count = 0;
  /** Two halves a block. */
  readonly hashes = new Int32Array(2 * maxBlocks);
  /** Where each block ends, in characters from the start. */
  readonly ends = new Int32Array(maxBlocks);
  /** Stands for the account and all up to the end of the first message of a user. */
  session = 0;
  #high = 0;
  #low = 0;
  #position = 0;
  #blockEnd = 0;
  #spacing = 0;

  /** Reads a prompt in place of the one before. */
  read(request: FleetRequest): void {
    this.#high = 0x1e3779b9;
    this.#low = 0x05ebca6b;
    this.#restart();
    this.#addText(request.cacheSalt ?? "");
    this.#restart(); // the salt seeds the hashes but takes no room of the prompt
    const { prompt } = request;
    if (prompt.case === "text") {
      this.#addText(prompt.value);
      this.session = this.hashes[0] ?? 0;
      return;
    }
    let isOpen = true;
    for (const { name, description, parametersJson } of prompt.value.tools) {
      this.#mix(name.length);
      this.#addText(description);
      this.#addText(parametersJson);
    }
    for (const { role, text, reasoning, toolCalls } of prompt.value.messages) {
      this.#mix(role);
      this.#addText(reasoning);
      this.#addText(text);
      for (const call of toolCalls) {
        this.#addText(call.argumentsJson);
      }
      if (isOpen) {
        this.session = spread(this.#low);
        isOpen = role !== Role.USER;
      }
      this.#endMessage();
      if (this.count === maxBlocks) {
        return;
      }
    }
  }

  #restart(): void {
    this.count = 0;
    this.#position = 0;
    this.#openBlock();
  }

  /** The length comes last, so that texts which begin alike share what they have in common. */
  #addText(text: string): void {
    const start = this.#position;
    const end = start + text.length;
    while (this.#position < end && this.count < maxBlocks) {
      const stop = Math.min(end, this.#blockEnd);
      this.#sample(text, this.#position - start, stop - start);
      this.#position = stop;
      if (stop === this.#blockEnd) {
        this.#closeBlock();
      }
    }
    this.#mix(text.length);
  }

  /** Mixes in what is looked at of a part of a text; what is begun there is looked at whole. */
  #sample(text: string, from: number, to: number): void {
    const spacing = this.#spacing; // a power of two
    const whole = Math.min(to, text.length - sample + 1);
    let high = this.#high;
    let low = this.#low;
    let at = (from + spacing - 1) & -spacing;
    for (; at < whole; at += spacing) {
      const early = text.charCodeAt(at) ^ (text.charCodeAt(at + 1) << 8);
      const value = early ^ (text.charCodeAt(at + 2) << 16) ^ (text.charCodeAt(at + 3) << 24);
      high = Math.imul(high ^ value, highFactor);
      low = Math.imul(low ^ value, lowFactor);
    }
    this.#high = high;
    this.#low = low;
    if (at < to) {
      for (; at < text.length; at++) {
        this.#mix(text.charCodeAt(at));
      }
    }
  }

  /** What comes after a message is often new, where all before it is known. */
  #endMessage(): void {
    const length = this.#position - (this.ends[this.count - 1] ?? 0);
    const isLarge = length >= smallestBlock && length >= this.#position * smallestPart;
    if (isLarge && this.count < maxBlocks - sizedBlocks) {
      this.#closeBlock();
    }
  }

  #closeBlock(): void {
    this.hashes[2 * this.count] = spread(this.#high);
    this.hashes[2 * this.count + 1] = spread(this.#low);
    this.ends[this.count] = this.#position;
    this.count++;
    this.#openBlock();
  }

  #openBlock(): void {
    const eighths = Math.floor(this.#position / (smallestBlock * blocksOfSize));
    const size = eighths === 0 ? smallestBlock : smallestBlock << (31 - Math.clz32(eighths));
    this.#blockEnd = this.#position + size;
    this.#spacing = size === smallestBlock ? closeSpacing : size / 2;
  }

  #mix(value: number): void {
    this.#high = Math.imul(this.#high ^ value, highFactor);
    this.#low = Math.imul(this.#low ^ value, lowFactor);
  }
}

/** Lets every bit of a hash depend on all of it. */
function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
}
