import { expect, test } from "@jest/globals";
import { decodeBatch, type Frame, parts } from "../../../src/grpc/carried/frames.ts";
import { batchBytes } from "../../../src/grpc/carried/limits.ts";
import { Outbox } from "../../../src/grpc/carried/outbox.ts";

const frame = (call: number, part: number, length: number): Frame => ({ call, part, bytes: new Uint8Array(length) });
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("what is added together leaves together, wherever the bound of a batch lies", async () => {
  for (const before of [batchBytes - 1, batchBytes, batchBytes - 50]) {
    const batches: (readonly Frame[])[] = [];
    const outbox = new Outbox((batch) => batches.push(decodeBatch(batch).frames));
    outbox.add(frame(1, parts.message, before));
    outbox.add(frame(2, parts.start, 40), frame(2, parts.message, 40));
    await turn();
    const second = batches.map((frames) => frames.filter(({ call }) => call === 2).length).filter((count) => count > 0);
    expect(second).toEqual([2]);
  }
});

test("frames of a turn leave as one batch, and sooner when they are many", async () => {
  const sizes: number[] = [];
  const outbox = new Outbox((batch) => sizes.push(decodeBatch(batch).frames.length));
  outbox.add(frame(1, parts.message, 10));
  outbox.add(frame(2, parts.message, 10));
  expect(sizes).toEqual([]);
  await turn();
  expect(sizes).toEqual([2]);
  outbox.add(frame(3, parts.message, batchBytes + 1));
  expect(sizes).toEqual([2, 1]);
});
