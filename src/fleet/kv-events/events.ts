import { type Halves, Packed } from "./packed.ts";

/** A change of the blocks in a server's KV cache. */
export type KvEvent =
  /** Blocks were stored, each the continuation of the one before; `parent` precedes the first. */
  | {
      readonly kind: "stored";
      readonly hashes: readonly Halves[];
      /** Undefined: the first block is the beginning of a prompt. */
      readonly parent: Halves | undefined;
      /** Tokens of each block. */
      readonly blockTokens: number;
    }
  /** Blocks were removed. */
  | { readonly kind: "removed"; readonly hashes: readonly Halves[] }
  /** The cache was emptied. */
  | { readonly kind: "cleared" };

/** The order of an event's fields where the event is written as an array. */
const orders: Readonly<Record<string, readonly string[]>> = {
  BlockStored: [
    ...["block_hashes", "parent_block_hash", "token_ids", "block_size", "lora_id", "medium", "lora_name"],
    ...["extra_keys", "group_idx"],
  ],
  BlockRemoved: ["block_hashes", "medium", "group_idx"],
};

/** Larger blocks are not believed. */
const mostBlockTokens = 65_536;
/** The most fields of an event, and the most events of a batch, that are believed. */
const mostFields = 64;
const mostEvents = 100_000;

/** The fields of an event that are used. */
interface Fields {
  hashes: Halves[];
  parent: Halves | undefined;
  blockTokens: number;
  /** Where the blocks are stored, and their group of layers. */
  medium: string | undefined;
  group: number | undefined;
}

/**
 * Reads a batch as vLLM and SGLang send it: an array of a time, events and more, or a map of these. Each event is an
 * array that begins with its name, or a map with the name as its `type`. Events of unknown kinds, of media other than
 * the GPU and of groups of layers after the first are left out. Throws when the bytes are not a batch.
 */
export function readBatch(bytes: Buffer): KvEvent[] {
  const packed = new Packed(bytes);
  if (!packed.isMap) {
    const length = packed.array();
    if (length < 2) {
      throw new Error("a batch has a time and events");
    }
    packed.skip();
    return readEvents(packed);
  }
  for (let left = packed.map(); left > 0; left--) {
    if (packed.text() === "events") {
      return readEvents(packed);
    }
    packed.skip();
  }
  throw new Error("a batch has events");
}

function readEvents(packed: Packed): KvEvent[] {
  const count = packed.array();
  if (count > mostEvents) {
    throw new Error(`a batch of ${count} events is too large`);
  }
  const events: KvEvent[] = [];
  for (let at = 0; at < count; at++) {
    const event = readEvent(packed);
    if (event !== undefined) {
      events.push(event);
    }
  }
  return events;
}

function readEvent(packed: Packed): KvEvent | undefined {
  const fields: Fields = { hashes: [], parent: undefined, blockTokens: 0, medium: undefined, group: undefined };
  const name = packed.isMap ? readMap(packed, fields) : readArray(packed, fields);
  const isOurs = (fields.medium ?? "GPU").toUpperCase() === "GPU" && (fields.group ?? 0) === 0;
  if (name === "AllBlocksCleared") {
    return { kind: "cleared" };
  }
  if (!isOurs || fields.hashes.length === 0) {
    return undefined;
  }
  if (name === "BlockRemoved") {
    return { kind: "removed", hashes: fields.hashes };
  }
  const { hashes, parent, blockTokens } = fields;
  const isStored = name === "BlockStored" && blockTokens > 0 && blockTokens <= mostBlockTokens;
  return isStored ? { kind: "stored", hashes, parent, blockTokens } : undefined;
}

function readArray(packed: Packed, fields: Fields): string {
  const length = packed.array();
  const name = packed.text();
  const order = orders[name] ?? [];
  for (let at = 0; at < length - 1; at++) {
    readField(packed, order[at] ?? "", fields);
  }
  return name;
}

function readMap(packed: Packed, fields: Fields): string {
  const length = packed.map();
  if (length > mostFields) {
    throw new Error(`an event of ${length} fields is too large`);
  }
  let name = "";
  for (let at = 0; at < length; at++) {
    const field = packed.text();
    if (field === "type") {
      name = packed.text();
    } else {
      readField(packed, field, fields);
    }
  }
  return name;
}

function readField(packed: Packed, field: string, fields: Fields): void {
  switch (field) {
    case "block_hashes": {
      for (let left = packed.array(); left > 0; left--) {
        fields.hashes.push(packed.hash());
      }
      break;
    }
    case "parent_block_hash":
      fields.parent = packed.passNil() ? undefined : packed.hash();
      break;
    case "block_size":
      fields.blockTokens = packed.number();
      break;
    case "medium":
      fields.medium = packed.passNil() ? undefined : packed.text();
      break;
    case "group_idx":
      fields.group = packed.passNil() ? undefined : packed.number();
      break;
    default:
      packed.skip();
  }
}
