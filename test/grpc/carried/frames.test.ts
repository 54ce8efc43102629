import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { CarryRequestSchema, CarryResponseSchema } from "#gen/tollgate/calls/v1/calls_service_pb.js";
import { decodeBatch, encodeFrames, type Frame, leavingBatch, parts } from "../../../src/grpc/carried/frames.ts";

const bytes = (length: number) => new Uint8Array(length).map((_, at) => at % 251);
const frames: Frame[] = [1, 127, 128, 16_384, 4_294_967_295].flatMap((call) =>
  [0, 1, 127, 128, 16_383, 16_384].map((length) => ({ call, part: parts.message, bytes: bytes(length) })),
);

test("what is written by hand is what the contract says, and is read as it says", () => {
  const batch = encodeFrames(frames);
  const read = fromBinary(CarryRequestSchema, batch);
  expect(read.frames).toHaveLength(frames.length);
  expect(batch.equals(toBinary(CarryRequestSchema, read))).toBe(true);
  const back = decodeBatch(batch).frames;
  expect(back.map(({ call, part }) => [call, part])).toEqual(frames.map(({ call, part }) => [call, part]));
  expect(
    Buffer.concat(back.map((frame) => frame.bytes)).equals(Buffer.concat(frames.map((frame) => frame.bytes))),
  ).toBe(true);
});

test("nothing is an empty message, and a core that goes says so", () => {
  expect(encodeFrames([])).toHaveLength(0);
  expect(decodeBatch(new Uint8Array())).toEqual({ frames: [], leaving: false });
  expect(decodeBatch(leavingBatch)).toEqual({ frames: [], leaving: true });
});

test("fields of later versions are passed over", () => {
  const known = toBinary(CarryResponseSchema, create(CarryResponseSchema, { frames: [{ call: 5 }] }));
  const later = Buffer.from([0x7a, 0x01, 0x00, 0x78, 0x01]); // field 15, as bytes and as a number
  expect(decodeBatch(Buffer.concat([later, known, later])).frames).toMatchObject([{ call: 5, part: 0 }]);
});

describe("bytes that are no frames are refused:", () => {
  test.each([
    ["a frame longer than the message", [0x0a, 0x7f, 0x08, 0x01]],
    ["a part longer than its frame", [0x0a, 0x04, 0x08, 0x01, 0x1a, 0x7f]],
    ["a part that ends in the next frame", [0x0a, 0x04, 0x08, 0x01, 0x1a, 0x02, 0x0a, 0x00]],
    ["a number without an end", [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
    ["a field without a number", [0x02, 0x00]],
    ["a length that ends the message", [0x0a]],
  ])("%s", (_what, broken) => {
    expect(() => decodeBatch(Uint8Array.from(broken))).toThrow();
  });
});
