import { expect, test } from "@jest/globals";
import { BodyBuffer } from "../../../../facades/http/request/body-buffer.ts";

const KiB = 1024;
const held = () => process.memoryUsage().arrayBuffers;

test("a body that is whole in its first chunk is not copied", () => {
  const buffer = new BodyBuffer();
  const chunk = Buffer.from("whole");
  buffer.add(chunk, true);
  expect(buffer.bytes.buffer).toBe(chunk.buffer);
  buffer.free();
  expect(chunk.toString()).toBe("whole"); // it is somebody else's
});

test("many chunks become one piece", () => {
  const buffer = new BodyBuffer();
  for (const text of ["a", "bc", "", "def", "g".repeat(100)]) {
    expect(buffer.roomFor(text.length)).toBeGreaterThanOrEqual(buffer.size + text.length);
    buffer.add(Buffer.from(text), false);
  }
  expect(buffer.bytes.toString()).toBe(`abcdef${"g".repeat(100)}`);
});

test("memory is given back at once: no collection is waited for", () => {
  const buffers = Array.from({ length: 100 }, () => new BodyBuffer());
  const before = held();
  for (const buffer of buffers) {
    buffer.add(Buffer.alloc(30 * KiB), false);
    buffer.add(Buffer.alloc(30 * KiB), false);
  }
  const kept = buffers.map(({ bytes }) => bytes);
  expect(held() - before).toBeGreaterThan(6000 * KiB);
  for (const buffer of buffers) {
    buffer.free();
  }
  expect(kept.reduce((sum, { length }) => sum + length, 0)).toBe(0);
  expect(buffers.map(({ size }) => size)).toEqual(Array(100).fill(0));
});
