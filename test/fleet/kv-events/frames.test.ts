import { expect, test } from "@jest/globals";
import {
  encodeMessage,
  encodeReady,
  FrameReader,
  greeting,
  longestFrame,
} from "../../../src/fleet/kv-events/frames.ts";
import { frame, message, ready } from "./publisher.ts";

// What libzmq 4.3.5 sends on a PUB socket: its greeting (ZMTP 3.1), READY and a message of two parts.
const libzmq = Buffer.concat([
  Buffer.from(`ff00000000000000017f0301${Buffer.from("NULL").toString("hex")}`.padEnd(128, "0"), "hex"),
  ready("PUB"),
  message([Buffer.from("kv"), Buffer.alloc(300, 7)]),
]);

const shapes = (chunks: readonly Buffer[]) => {
  const reader = new FrameReader();
  return chunks
    .flatMap((chunk) => reader.read(chunk))
    .map(({ isCommand, hasMore, body }) => [isCommand, hasMore, body.length]);
};

test.each([1, 2, 3, 7, 64, 65, 1000])("reads frames that arrive in pieces of %d bytes", (size) => {
  const pieces = Array.from({ length: Math.ceil(libzmq.length / size) }, (_, at) =>
    libzmq.subarray(at * size, (at + 1) * size),
  );
  expect(shapes(pieces)).toEqual([
    [true, false, 25],
    [false, true, 2],
    [false, false, 300],
  ]);
});

test("what is sent is read again", () => {
  const parts = [Buffer.alloc(0), Buffer.from("12345678")];
  expect(shapes([Buffer.concat([greeting, encodeReady("DEALER"), encodeMessage(parts)])])).toEqual([
    [true, false, 28],
    [false, true, 0],
    [false, false, 8],
  ]);
});

test.each([
  ["a peer that speaks HTTP", Buffer.from("HTTP/1.1 400 Bad Request\r\n".padEnd(64))],
  ["ZMTP 2", Buffer.concat([greeting.subarray(0, 10), Buffer.from([1]), greeting.subarray(11)])],
  ["a peer that wants a password", Buffer.from(greeting.toString("latin1").replace("NULL\0", "PLAIN"), "latin1")],
  ["a frame too long", Buffer.concat([greeting, frame(Buffer.alloc(longestFrame + 1)).subarray(0, 9)])],
])("refuses %s", (_, bytes) => {
  expect(() => new FrameReader().read(bytes)).toThrow();
});
