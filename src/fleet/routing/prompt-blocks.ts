import { Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import type { FleetRequest } from "../interface.ts";
import { hashText } from "./hash-text.ts";

/** Characters of the smallest blocks. */
const smallestBlock = 64;

/**
 * A block has at most this part of the characters before it (1 / 4) and over half of that. The first blocks have the
 * smallest size.
 */
const blocksOfSize = 4;

/**
 * Of every eight characters the first four are read, and in larger blocks, the same of each half. They lie close
 * together, and so in memory. Prompts that differ mostly do so early.
 */
const sample = 4;
const closeSpacing = 8;

/** The number of blocks of these sizes that covers more than 500,000 characters. */
const sizedBlocks = 48;

/** The most blocks of a prompt. */
export const maxBlocks = 184;

/**
 * A block also ends where a message ends, unless it would be a smaller part than this of all characters up to there.
 */
const smallestPart = 1 / 64;

/** Factors of two multiplicative hashes (FNV-1a), which run side by side and together make one of 64 bits. */
const highFactor = 0x01000193;
const lowFactor = 0x85ebca6b;

/** A prompt in blocks. The arrays may be longer than `count` needs. */
export interface BlocksOfText {
  readonly count: number;
  /** Two halves for each block. */
  readonly hashes: Int32Array;
  /** Where each block ends, in characters from the start. */
  readonly ends: Int32Array;
}

/**
 * A prompt's beginning as a chain of hashes. Each hash covers its block and all blocks before it, so that prompts with
 * equal hashes begin alike. Blocks grow with their distance from the start, to a quarter of it. Only some characters of
 * each block are read, and the length of every text, so that a long prompt costs microseconds. A false match is rare
 * and only sends a request to a server that does not have its beginning in the cache.
 */
export class PromptBlocks implements BlocksOfText {
  /** The number of blocks in the prompt. */
  count = 0;
  /** Two halves for each block. */
  readonly hashes = new Int32Array(2 * maxBlocks);
  /** Where each block ends, in characters from the start. */
  readonly ends = new Int32Array(maxBlocks);
  /** A hash of the account and the session's name. Without a name: of all text to the first user message's end. */
  session = 0;
  /** Whether the prompt continues an earlier answer. */
  isContinued = false;
  #high = 0;
  #low = 0;
  #position = 0;
  #blockEnd = 0;
  #spacing = 0;

  /** Reads a prompt and replaces the previous one. */
  read(request: FleetRequest): void {
    this.#high = 0x1e3779b9;
    this.#low = 0x05ebca6b;
    this.#restart();
    this.#addText(request.cacheSalt ?? "");
    this.#restart(); // the salt seeds the hashes but adds no characters
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

  /** Hashes the length last, so that texts that begin alike share the blocks of their beginning. */
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

  /** Mixes a text part's sampled characters in. A sample that begins in the part is read to its end. */
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

  /** Ends a block at a message's end where it is large enough: later text is often new, and earlier text known. */
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

/** Hashes a session's name with its account: the same name in two accounts means two sessions. */
function hashName(session: string, account = ""): number {
  return hashText(session, spread(hashText(account, 0x1e3779b9)));
}

/** Mixes a hash so that every bit depends on all of it. */
function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
}
