import { expect, test } from "@jest/globals";
import { PrefixIndex } from "#src/fleet/routing/prefix-index.ts";
import type { BlocksOfText } from "#src/fleet/routing/prompt-blocks.ts";
import { SeededRandom } from "../seeded-random.ts";

/** A prompt of blocks by their names, of a hundred characters each. */
function prompt(...blocks: number[]): BlocksOfText {
  return {
    count: blocks.length,
    hashes: Int32Array.from(blocks.flatMap((name) => [name, name])),
    ends: Int32Array.from(blocks, (_, at) => 100 * (at + 1)),
  };
}

/** Characters of a prompt's beginning that each server has. */
function match(index: PrefixIndex, blocks: readonly number[], servers: number): number[] {
  const matched = new Int32Array(servers).fill(7);
  index.match(prompt(...blocks), matched);
  return Array.from(matched);
}

function gain(index: PrefixIndex, blocks: readonly number[], server: number): void {
  for (const name of blocks) {
    index.gain(name, name, server);
  }
}

test("knows who has how much, and who has lost it", () => {
  const index = new PrefixIndex(1024, 40);
  gain(index, [1, 2, 3], 0);
  gain(index, [1, 2, 3], 35);
  gain(index, [1, 4], 1);
  const before = match(index, [1, 2, 3], 40);
  expect([before[0], before[1], before[2], before[35]]).toEqual([300, 100, 0, 300]);
  index.lose(3, 3, 35);
  index.lose(2, 2, 0);
  index.lose(3, 3, 0);
  index.lose(9, 9, 0);
  const after = match(index, [1, 2, 3], 40);
  expect([after[0], after[1], after[2], after[35]]).toEqual([100, 100, 0, 200]);
  expect(match(index, [], 40)).toEqual(Array(40).fill(0));
});

test("has nothing left of what no server has", () => {
  const index = new PrefixIndex(2, 40);
  for (let name = 0; name < 100; name++) {
    gain(index, [name], name % 40);
    gain(index, [name], 39);
  }
  expect(index.size).toBe(100);
  for (let name = 0; name < 100; name++) {
    index.lose(name, name, name % 40);
    index.lose(name, name, 39);
  }
  expect(index.size).toBe(0);
  expect(match(index, [1], 40)).toEqual(Array(40).fill(0));
});

test("makes room for more servers and keeps what it knows", () => {
  const index = new PrefixIndex(1024, 1);
  gain(index, [1, 2], 0);
  index.widen(40);
  gain(index, [1], 39);
  const matched = match(index, [1, 2], 40);
  expect([matched[0], matched[1], matched[39]]).toEqual([200, 0, 100]);
});

test.each([1, 40, 256])("finds by halves what a look at every block finds, for %d servers", (servers) => {
  const random = new SeededRandom(servers);
  const index = new PrefixIndex(16, servers);
  const depths = new Map<number, number[]>();
  for (let turn = 0; turn < 400; turn++) {
    // Each of a few prompts is had by every server to some depth, which grows and shrinks by its end.
    const first = 1000 * random.between(1, 5);
    const length = random.between(1, 90);
    const blocks = Array.from({ length }, (_, at) => first + at);
    const had = depths.get(first) ?? Array<number>(servers).fill(0);
    depths.set(first, had);
    const server = random.between(0, servers - 1);
    const before = had[server] as number;
    const now = random.between(0, 90);
    for (let at = before; at < now; at++) {
      index.gain(first + at, first + at, server);
    }
    for (let at = before - 1; at >= now; at--) {
      index.lose(first + at, first + at, server);
    }
    had[server] = now;
    expect(match(index, blocks, servers)).toEqual(had.map((depth) => 100 * Math.min(depth, length)));
  }
});
