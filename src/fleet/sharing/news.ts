/** A core's load on a server. */
export interface Load {
  readonly inFlight: number;
  /** Prompt tokens that the server has yet to read, and all tokens that the core's requests take in its KV cache. */
  readonly unreadTokens: number;
  readonly tokensInFlight: number;
}

/** The load of a core that has nothing on a server. */
export const nothing: Load = { inFlight: 0, unreadTokens: 0, tokensInFlight: 0 };

/** News about one server. Its name is the same on all cores. */
export type News =
  | { readonly kind: "load"; readonly server: string; readonly load: Load }
  /** A prompt was sent to the server: both halves of each block's hash, and where each block ends, in characters. */
  | { readonly kind: "prompt"; readonly server: string; readonly hashes: Int32Array; readonly ends: Int32Array }
  /** The server failed several requests, or its checks. */
  | { readonly kind: "trouble"; readonly server: string }
  /** The core gives the server no work for now. */
  | { readonly kind: "avoided"; readonly server: string };

/** A message of one core. */
export interface Message {
  readonly core: string;
  /** Whether the message has all loads of the core: the core then has nothing on servers that it does not name. */
  readonly isWhole: boolean;
  readonly news: readonly News[];
}

/** The longest message, in bytes. */
export const longestMessage = 262_144;
/** The most blocks of one prompt that are believed. */
const mostBlocks = 1024;
const longestName = 1024;
/** A load with larger figures is not believed. */
const mostRequests = 1_000_000;
const mostTokens = 1_000_000_000;

// The format of a message: version, the core's id of 16 bytes, 1 if it is whole, then pieces. A piece begins with its
// kind, the length of the server's name and the name. A load adds its three figures, a prompt the number of its blocks
// and their hashes and ends; trouble and avoided add nothing. Numbers are little-endian.
const version = 1;
const idEnd = 17;
const headBytes = 18;
const kinds = { load: 1, prompt: 2, trouble: 3, avoided: 4 } as const;

/** Encodes news as a piece of a message. `join` makes a message of pieces. */
export function encode(news: News): Buffer {
  const name = Buffer.from(news.server);
  const begin = (bytes: number) => {
    const piece = Buffer.alloc(3 + name.length + bytes);
    piece.writeUInt8(kinds[news.kind], 0);
    piece.writeUInt16LE(name.length, 1);
    name.copy(piece, 3);
    return piece;
  };
  const at = 3 + name.length;
  switch (news.kind) {
    case "load": {
      const piece = begin(12);
      piece.writeUInt32LE(toFigure(news.load.inFlight), at);
      piece.writeUInt32LE(toFigure(news.load.unreadTokens), at + 4);
      piece.writeUInt32LE(toFigure(news.load.tokensInFlight), at + 8);
      return piece;
    }
    case "prompt": {
      const count = news.ends.length;
      const piece = begin(2 + 12 * count);
      piece.writeUInt16LE(count, at);
      for (let block = 0; block < count; block++) {
        piece.writeInt32LE(news.hashes[2 * block] as number, at + 2 + 12 * block);
        piece.writeInt32LE(news.hashes[2 * block + 1] as number, at + 6 + 12 * block);
        piece.writeInt32LE(news.ends[block] as number, at + 10 + 12 * block);
      }
      return piece;
    }
    case "trouble":
    case "avoided":
      return begin(0);
  }
}

/** Joins pieces to a message. The core's id has 32 hexadecimal digits. */
export function join(core: string, isWhole: boolean, pieces: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from([version]), Buffer.from(core, "hex"), Buffer.from([Number(isWhole)]), ...pieces]);
}

/** Decodes a message. Undefined: the bytes are not a message, or are of another version; no part is believed then. */
export function decode(bytes: Uint8Array): Message | undefined {
  const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (message.length < headBytes || message.length > longestMessage || message[0] !== version) {
    return undefined;
  }
  const news: News[] = [];
  for (let at = headBytes; at < message.length; ) {
    const piece = readPiece(message, at);
    if (piece === undefined) {
      return undefined;
    }
    news.push(piece.news);
    at = piece.end;
  }
  return { core: message.toString("hex", 1, idEnd), isWhole: message[idEnd] === 1, news };
}

function readPiece(message: Buffer, from: number): { readonly news: News; readonly end: number } | undefined {
  if (from + 3 > message.length) {
    return undefined;
  }
  const kind = message.readUInt8(from);
  const length = message.readUInt16LE(from + 1);
  const at = from + 3 + length;
  if (length > longestName || at > message.length) {
    return undefined;
  }
  const server = message.toString("utf8", from + 3, at);
  switch (kind) {
    case kinds.load: {
      if (at + 12 > message.length) {
        return undefined;
      }
      const [inFlight, unreadTokens, tokensInFlight] = [0, 4, 8].map((offset) => message.readUInt32LE(at + offset));
      const load = { inFlight, unreadTokens, tokensInFlight } as Load;
      const isLoad =
        load.inFlight <= mostRequests && load.unreadTokens <= mostTokens && load.tokensInFlight <= mostTokens;
      return isLoad ? { news: { kind: "load", server, load }, end: at + 12 } : undefined;
    }
    case kinds.prompt: {
      const count = at + 2 > message.length ? 0 : message.readUInt16LE(at);
      const isWhole = at + 2 + 12 * count <= message.length;
      return isWhole && count <= mostBlocks ? readPrompt(message, at + 2, server, count) : undefined;
    }
    case kinds.trouble:
      return { news: { kind: "trouble", server }, end: at };
    case kinds.avoided:
      return { news: { kind: "avoided", server }, end: at };
    default:
      return undefined;
  }
}

function readPrompt(message: Buffer, at: number, server: string, count: number) {
  const hashes = new Int32Array(2 * count);
  const ends = new Int32Array(count);
  let before = 0;
  for (let block = 0; block < count; block++) {
    hashes[2 * block] = message.readInt32LE(at + 12 * block);
    hashes[2 * block + 1] = message.readInt32LE(at + 12 * block + 4);
    const end = message.readInt32LE(at + 12 * block + 8);
    if (end <= before) {
      return undefined; // blocks must follow each other
    }
    ends[block] = end;
    before = end;
  }
  return { news: { kind: "prompt", server, hashes, ends } as const, end: at + 12 * count };
}

function toFigure(value: number): number {
  return Math.min(0xffff_ffff, Math.max(0, Math.round(value)));
}
