import { Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import type { FleetRequest } from "../interface.ts";
import { hashText } from "./hash-text.ts";

/** Characters of the smallest blocks. */
const smallestBlock = 64;

/** A block has at most this part of the characters before it (1 / 4) and over half of that; the first blocks have the smallest size. */
const blocksOfSize = 4;

/**
 * The first few characters of every eight are looked at, and in larger blocks, of each half: near to each
 * other, and so in memory. Prompts that differ mostly do so early.
 */
const sample = 4;
const closeSpacing = 8;

/** Number of blocks of these sizes that reach over 500,000 characters. */
const sizedBlocks = 48;

/** The most blocks of a prompt. */
export const maxBlocks = 184;

/** A block also ends where a message ends, unless it would be a smaller part than this of all characters before its end. */
const smallestPart = 1 / 64;

/** Constants of two multiplicative hashes (FNV-1a), which run side by side and make one of 64 bits. */
const highFactor = 0x01000193;
const lowFactor = 0x85ebca6b;

/** A prompt in blocks. The arrays may be longer than that. */
export interface BlocksOfText {
  readonly count: number;
  /** Two halves a block. */
  readonly hashes: Int32Array;
  /** Where each block ends, in characters from the start. */
  readonly ends: Int32Array;
}

/**
 * The beginning of a prompt as a chain of hashes: each stands for its block and all before it, so that
 * prompts with equal hashes begin alike. Blocks grow with the distance from the start, to a quarter of
 * it, and only some characters of each are read, beside the length of every text: a long prompt costs
 * microseconds. A mistake is rare and only sends a request to a server without its beginning in the cache.
 */
export class PromptBlocks implements BlocksOfText {
  /** Number of blocks of the prompt. */
  count = 0;
  /** Two halves a block. */
  readonly hashes = new Int32Array(2 * maxBlocks);
  /** Where each block ends, in characters from the start. */
  readonly ends = new Int32Array(maxBlocks);
  /** A hash of the account, and of the session's name or else of everything up to the end of the user's first message. */
  session = 0;
  /** Whether the prompt goes on from an earlier answer. */
  isContinued = false;
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
    this.isContinued = false;
    const { prompt, session } = request;
    if (prompt.case === "text") {
      this.#addText(prompt.value);
      this.session = session === undefined ? (this.hashes[0] ?? 0) : hashName(session, request.accountId);
      return;
    }
    let isOpen = session === undefined;
    if (session !== undefined) {
      this.session = hashName(session, request.accountId);
    }
    for (const { name, description, parametersJson } of prompt.value.tools) {
      this.#mix(name.length);
      this.#addText(description);
      this.#addText(parametersJson);
    }
    for (const { role, text, reasoning, toolCalls } of prompt.value.messages) {
      this.#mix(role);
      this.isContinued ||= role === Role.ASSISTANT;
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

  /** The length comes last, so that texts that begin alike share the blocks of their beginning. */
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

  /** Mixes the sampled characters of a part of a text in; a sample that begins there is read to its end. */
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

  /** May end a block at the end of a message: the text after it is often new, and all before it known. */
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
    const quarters = Math.floor(this.#position / (smallestBlock * blocksOfSize));
    const size = quarters === 0 ? smallestBlock : smallestBlock << (31 - Math.clz32(quarters));
    this.#blockEnd = this.#position + size;
    this.#spacing = size === smallestBlock ? closeSpacing : size / 2;
  }

  #mix(value: number): void {
    this.#high = Math.imul(this.#high ^ value, highFactor);
    this.#low = Math.imul(this.#low ^ value, lowFactor);
  }
}

/** A hash of an account's name for a session: another account's session of that name is another one. */
function hashName(session: string, account = ""): number {
  return hashText(session, spread(hashText(account, 0x1e3779b9)));
}

/** Lets every bit of a hash depend on all of it. */
function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
}
