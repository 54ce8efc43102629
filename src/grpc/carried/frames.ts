import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import {
  CancelSchema,
  CarryRequestSchema,
  CarryResponseSchema,
  CreditSchema,
  EndSchema,
  FrameSchema,
  HeadSchema,
  StartSchema,
} from "#gen/tollgate/calls/v1/calls_service_pb.js";
import { toBytes } from "../workarounds/writer-room.ts";

// Encodes and decodes the envelopes of tollgate.calls.v1 by hand: reflection would cost a streamed token more than the
// rest of its way.

/** A part of a call on the stream: the number of its field in Frame, and the field's bytes. */
export interface Frame {
  readonly call: number;
  readonly part: number;
  readonly bytes: Uint8Array;
}

/** The frames of a message. `leaving`: the core is shutting down. */
export interface Batch {
  readonly frames: readonly Frame[];
  readonly leaving: boolean;
}

const { field } = FrameSchema;

/** The field numbers of the parts. */
export const parts = {
  start: field.start.number,
  message: field.message.number,
  credit: field.credit.number,
  cancel: field.cancel.number,
  head: field.head.number,
  piece: field.piece.number,
  end: field.end.number,
} as const;

/** The schemas of the parts that are messages. */
export const schemas = {
  start: StartSchema,
  credit: CreditSchema,
  cancel: CancelSchema,
  head: HeadSchema,
  end: EndSchema,
};

const framesField = CarryResponseSchema.field.frames.number;
const leavingField = CarryResponseSchema.field.leaving.number;
const callTag = tagOf(field.call.number, WireType.Varint);
const framesTag = tagOf(CarryRequestSchema.field.frames.number, WireType.LengthDelimited);

/** Encodes a part that is a message. */
export function toFrame<D extends DescMessage>(
  call: number,
  part: number,
  schema: D,
  init: MessageInitShape<D>,
): Frame {
  return { call, part, bytes: toBytes(schema, create(schema, init)) };
}

/** Decodes a part that is a message. Throws when the bytes are invalid. */
export function readPart<D extends DescMessage>(schema: D, { bytes }: Frame): MessageShape<D> {
  return fromBinary(schema, bytes);
}

/** Encodes a CarryRequest or CarryResponse with these frames. */
export function encodeFrames(frames: readonly Frame[]): Buffer {
  let length = 0;
  for (const frame of frames) {
    const inside = lengthOf(frame);
    length += 1 + varintLength(inside) + inside;
  }
  const buffer = Buffer.allocUnsafe(length);
  let at = 0;
  for (const frame of frames) {
    const { call, part, bytes } = frame;
    buffer[at++] = framesTag;
    at = writeVarint(buffer, at, lengthOf(frame));
    buffer[at++] = callTag;
    at = writeVarint(buffer, at, call);
    buffer[at++] = tagOf(part, WireType.LengthDelimited);
    at = writeVarint(buffer, at, bytes.length);
    buffer.set(bytes, at);
    at += bytes.length;
  }
  return buffer;
}

/** The CarryResponse of a core that is shutting down. */
export const leavingBatch = Buffer.from(toBinary(CarryResponseSchema, create(CarryResponseSchema, { leaving: true })));

/** Decodes a CarryRequest or CarryResponse. The frames' bytes are views. Throws when the bytes are invalid. */
export function decodeBatch(bytes: Uint8Array): Batch {
  const reader = new BinaryReader(bytes);
  const frames: Frame[] = [];
  let leaving = false;
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === framesField && type === WireType.LengthDelimited) {
      const length = reader.uint32();
      frames.push(decodeFrame(reader, endOf(reader, length)));
    } else if (number === leavingField && type === WireType.Varint) {
      leaving = reader.bool();
    } else {
      reader.skip(type, number);
    }
  }
  if (reader.pos > reader.len) {
    throw new RangeError("premature end");
  }
  return { frames, leaving };
}

function decodeFrame(reader: BinaryReader, end: number): Frame {
  let call = 0;
  let part = 0;
  let bytes: Uint8Array = none;
  while (reader.pos < end) {
    const [number, type] = reader.tag();
    if (number === field.call.number && type === WireType.Varint) {
      call = reader.uint32();
    } else if (number >= parts.start && number <= parts.end && type === WireType.LengthDelimited) {
      part = number;
      bytes = reader.bytes();
    } else {
      reader.skip(type, number);
    }
  }
  if (reader.pos !== end) {
    throw new RangeError("a frame passes its end");
  }
  return { call, part, bytes };
}

function endOf(reader: BinaryReader, length: number): number {
  const end = reader.pos + length;
  if (end > reader.len) {
    throw new RangeError("premature end");
  }
  return end;
}

const none = new Uint8Array(0);

function lengthOf({ call, bytes: { length } }: Frame): number {
  return 1 + varintLength(call) + 1 + varintLength(length) + length;
}

/** All our field numbers are below 16, so that a tag is one byte. */
function tagOf(number: number, type: WireType): number {
  return (number << 3) | type;
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) {
    length++;
  }
  return length;
}

function writeVarint(buffer: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) {
    buffer[at++] = (rest & 0x7f) | 0x80;
  }
  buffer[at++] = rest;
  return at;
}
