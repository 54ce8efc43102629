import { type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter } from "@bufbuild/protobuf/wire";

/*
 * Wrong: a writer makes an array of zeros of up to six times a text's length for each message. For a prompt of 100 KB
 * that cost a third of a call, in fresh memory and its collection.
 * Upstream: @bufbuild/protobuf 2.17.0 (`BinaryWriter.ensureCapacity`, private).
 * Still needed while test/grpc/workarounds/writer-room.test.ts sees the library take several times a text's length.
 * Delete when `toBinary` can be given a buffer, or measures texts before it writes them. `toBytes` then is `toBinary`.
 */

/** A message's bytes as the Buffer that grpc-js writes. */
export function toBytes(schema: DescMessage, message: Message): Buffer {
  isLent = true;
  borrower = undefined;
  try {
    const { buffer, byteOffset, byteLength } = toBinary(schema, message);
    return Buffer.from(buffer, byteOffset, byteLength);
  } finally {
    isLent = false;
  }
}

const roomBytes = 4 * 1024 * 1024;
/**
 * The buffer that the writers of `toBytes` share, one after the other: each writes a long message here and copies it out. Made
 * for the first long message: a process that sends none would collect its garbage sooner for it.
 */
let scratch: Uint8Array | undefined;
/** Shorter messages cost less in an array of their own. */
const shortest = 1024;
let isLent = false;
let borrower: Writer | undefined;

/** The part of a writer that gives it room; private in its declaration. */
interface Writer {
  pos: number;
  buffer: Uint8Array;
  ensureCapacity(size: number): void;
}

let isApplied = false;

/** Gives the writers of `toBytes` room that is there already. */
export function reuseWriterRoom(): void {
  if (isApplied) {
    return;
  }
  isApplied = true;
  const writer = BinaryWriter.prototype as unknown as Writer;
  const { ensureCapacity } = writer;
  writer.ensureCapacity = function (size) {
    const required = this.pos + size;
    if (required <= this.buffer.length) {
      return;
    }
    const isFree = isLent && borrower === undefined;
    if (!isFree || required < shortest || required > roomBytes) {
      return ensureCapacity.call(this, size);
    }
    borrower = this;
    scratch ??= new Uint8Array(roomBytes);
    scratch.set(this.buffer.subarray(0, this.pos));
    this.buffer = scratch;
  };
}
