import { expect, test } from "@jest/globals";
import { BodyBuffer } from "../../../../facades/http/request/body-buffer.ts";

const KiB = 1024;
const held = () => process.memoryUsage().arrayBuffers;

test("a body that is whole in its first chunk is not copied, and what shares its memory keeps it", () => {
  const buffer = new BodyBuffer();
  const memory = Buffer.alloc(30 * KiB, "x");
  const chunk = memory.subarray(10, 20 * KiB);
  buffer.add(chunk);
  expect(buffer.bytes.buffer).toBe(memory.buffer);
  buffer.free();
  expect(memory.length).toBe(30 * KiB);
});

test("many chunks become one piece", () => {
  const buffer = new BodyBuffer();
  for (const text of ["a", "bc", "", "def", "g".repeat(100)]) {
    expect(buffer.roomFor(text.length)).toBeGreaterThanOrEqual(buffer.size + text.length);
    buffer.add(Buffer.from(text));
  }
  expect(buffer.bytes.toString()).toBe(`abcdef${"g".repeat(100)}`);
});

test("memory is given back at once: no collection is waited for", () => {
  const buffers = Array.from({ length: 100 }, () => new BodyBuffer());
  const before = held();
  for (const buffer of buffers) {
    buffer.add(Buffer.alloc(30 * KiB));
    buffer.add(Buffer.alloc(30 * KiB));
  }
  const kept = buffers.map(({ bytes }) => bytes);
  expect(held() - before).toBeGreaterThan(6000 * KiB);
  for (const buffer of buffers) {
    buffer.free();
  }
  expect(kept.reduce((sum, { length }) => sum + length, 0)).toBe(0);
  expect(buffers.map(({ size }) => size)).toEqual(Array(100).fill(0));
});
