import { type ServiceClass, serviceClasses } from "#lib/limits/service-class.ts";
import type { Load, Message, News } from "../news.ts";
import { idBytes, kinds, longestMessage, version } from "./format.ts";

/** The most blocks of one prompt that are believed. */
const mostBlocks = 1024;
const longestName = 1024;
/** Larger figures are not believed. */
const mostRequests = 1_000_000;
const mostTokens = 1_000_000_000;
const longestWaitMs = 86_400_000;

/** Decodes a message. Undefined: the bytes are not a message, or are of another version; no part is believed then. */
export function decode(bytes: Uint8Array): Message | undefined {
  if (bytes.length > longestMessage) {
    return undefined;
  }
  const reader = new Reader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  try {
    if (reader.byte() !== version) {
      return undefined;
    }
    const core = reader.bytes(idBytes).toString("hex");
    const isWhole = reader.byte() === 1;
    const news: News[] = [];
    while (!reader.isAtEnd) {
      news.push(readPiece(reader));
    }
    return { core, isWhole, news };
  } catch (error) {
    if (error instanceof Unreadable) {
      return undefined;
    }
    throw error;
  }
}

class Unreadable extends Error {}

/** Reads a message's parts in their order. Throws Unreadable where it ends too early, or a figure is out of bounds. */
class Reader {
  readonly #message: Buffer;
  #at = 0;

  constructor(message: Buffer) {
    this.#message = message;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#message.length;
  }

  bytes(count: number): Buffer {
    const from = this.#at;
    this.#at += count;
    check(this.#at <= this.#message.length);
    return this.#message.subarray(from, this.#at);
  }

  byte(): number {
    return this.bytes(1)[0] as number;
  }

  text(): string {
    const length = this.bytes(2).readUInt16LE();
    check(length <= longestName);
    return this.bytes(length).toString();
  }

  count(most: number): number {
    const value = this.bytes(4).readUInt32LE();
    check(value <= most);
    return value;
  }

  /** A floating-point number within what it can count exactly. */
  double(least = 0): number {
    const value = this.bytes(8).readDoubleLE();
    check(value >= least && value <= Number.MAX_SAFE_INTEGER);
    return value;
  }

  serviceClass(): ServiceClass {
    const serviceClass = serviceClasses[this.byte()];
    check(serviceClass !== undefined);
    return serviceClass;
  }

  load(): Load {
    const inFlight = this.count(mostRequests);
    return { inFlight, unreadTokens: this.count(mostTokens), tokensInFlight: this.count(mostTokens) };
  }
}

function readPiece(reader: Reader): News {
  const kind = reader.byte();
  const name = reader.text();
  switch (kind) {
    case kinds.load:
      return { kind: "load", server: name, load: reader.load() };
    case kinds.prompt:
      return { kind: "prompt", server: name, ...readBlocks(reader) };
    case kinds.trouble:
      return { kind: "trouble", server: name };
    case kinds.avoided:
      return { kind: "avoided", server: name };
    case kinds.head:
      return readHead(reader, name);
    case kinds.empty:
      return { kind: "empty", model: name };
    case kinds.served: {
      const serviceClass = reader.serviceClass();
      const work = reader.double(-Number.MAX_SAFE_INTEGER);
      return { kind: "served", model: name, serviceClass, work, running: reader.double(), key: reader.text() };
    }
    case kinds.left: {
      const core = reader.bytes(idBytes).toString("hex");
      return { kind: "left", server: name, core, load: reader.load(), isPassedOn: reader.byte() === 1 };
    }
    case kinds.settled: {
      const core = reader.bytes(idBytes).toString("hex");
      return { kind: "settled", server: name, core, isUnfit: reader.byte() === 1 };
    }
    default:
      throw new Unreadable();
  }
}

function readHead(reader: Reader, model: string): News {
  const serviceClass = reader.serviceClass();
  const rank = reader.double();
  const waitedMs = reader.count(longestWaitMs);
  const [prompt, total] = [reader.count(mostTokens), reader.count(mostTokens)];
  const times = { classes: reader.double(), accounts: serviceClasses.map(() => reader.double()) };
  return { kind: "head", model, head: { serviceClass, rank, waitedMs, prompt, total }, times };
}

function readBlocks(reader: Reader) {
  const count = reader.bytes(2).readUInt16LE();
  check(count <= mostBlocks);
  const blocks = reader.bytes(12 * count);
  const hashes = new Int32Array(2 * count);
  const ends = new Int32Array(count);
  let before = 0;
  for (let block = 0; block < count; block++) {
    hashes[2 * block] = blocks.readInt32LE(12 * block);
    hashes[2 * block + 1] = blocks.readInt32LE(12 * block + 4);
    const end = blocks.readInt32LE(12 * block + 8);
    check(end > before); // blocks follow each other
    ends[block] = end;
    before = end;
  }
  return { hashes, ends };
}

function check(isRight: boolean): asserts isRight {
  if (!isRight) {
    throw new Unreadable();
  }
}
