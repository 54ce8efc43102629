import { expect, test } from "@jest/globals";
import { PrefixIndex } from "../../../src/fleet/routing/prefix-index.ts";
import { PromptBlocks } from "../../../src/fleet/routing/prompt-blocks.ts";
import { textRequest } from "../../engines/requests.ts";

function read(text: string): PromptBlocks {
  const blocks = new PromptBlocks();
  blocks.read(textRequest(text));
  return blocks;
}

/** Characters of a text's beginning that each server has read. */
function match(index: PrefixIndex, text: string, servers: number): number[] {
  const matched = new Int32Array(Math.ceil(servers / 32) * 32);
  index.match(read(text), matched);
  return Array.from(matched.subarray(0, servers));
}

function add(index: PrefixIndex, text: string, server: number): void {
  const blocks = read(text);
  index.match(blocks, new Int32Array(64));
  index.add(blocks, server);
}

// Equal lengths, because a text's length is part of its beginning.
const text = "0123456789abcdef".repeat(16);
const half = text.slice(0, 128) + "-".repeat(128);
const other = "-".repeat(256);

test("knows who has read how much", () => {
  const index = new PrefixIndex(1024, 40);
  add(index, text, 0);
  add(index, half, 1);
  add(index, text, 35);
  const matched = match(index, text, 40);
  expect([matched[0], matched[1], matched[2], matched[35]]).toEqual([256, 128, 0, 256]);
  expect(match(index, half, 40)[0]).toBe(128);
  expect(match(index, half, 40)[1]).toBe(256);
  expect(match(index, other, 40).every((characters) => characters === 0)).toBe(true);
});

test("forgets a server", () => {
  const index = new PrefixIndex(1024, 40);
  add(index, text, 3);
  add(index, text, 35);
  index.forget(35);
  const matched = match(index, text, 40);
  expect([matched[3], matched[35]]).toEqual([256, 0]);
});

test("makes room for more servers and keeps what it knows", () => {
  const index = new PrefixIndex(1024, 1);
  add(index, text, 0);
  index.widen(40);
  add(index, half, 39);
  const matched = match(index, text, 40);
  expect([matched[0], matched[1], matched[39]]).toEqual([256, 0, 128]);
  expect(index.bytes).toBe(1024 * 16);
});

/** A text of 256 characters like no other. */
const unlike = (number: number) => String.fromCharCode(256 + number).repeat(256);

test("makes room by what was used longest ago, and never grows", () => {
  const index = new PrefixIndex(512, 1);
  const { bytes } = index;
  add(index, text, 0);
  for (let i = 0; i < 2000; i++) {
    add(index, unlike(i), 0);
    if (i % 20 === 0) {
      add(index, text, 0);
    }
  }
  expect(match(index, text, 1)).toEqual([256]);
  expect(match(index, unlike(5), 1)[0]).toBeLessThan(256);
  expect(index.bytes).toBe(bytes);
  expect(bytes).toBe(512 * 12);
});
