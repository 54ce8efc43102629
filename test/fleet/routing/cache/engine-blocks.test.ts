import { beforeEach, describe, expect, test } from "@jest/globals";
import { EngineBlocks, type ReadPrompt } from "../../../../src/fleet/routing/cache/engine-blocks.ts";

const hash = (low: number) => ({ high: 1, low });
let blocks: EngineBlocks;
let lost: number[];

beforeEach(() => {
  lost = [];
  blocks = new EngineBlocks(1000, (_, low) => void lost.push(low));
});

/** Stores blocks of 16 tokens. */
function store(hashes: readonly number[], parent?: number, into = blocks): boolean {
  const before = parent === undefined ? undefined : hash(parent);
  return into.take({ kind: "stored", hashes: hashes.map(hash), parent: before, blockTokens: 16 });
}
const remove = (...hashes: number[]) => blocks.take({ kind: "removed", hashes: hashes.map(hash) });

/** A prompt of four characters a token whose blocks of text end after so many tokens; they are named by that. */
function prompt(tokens: number, ends: readonly number[] = [16, 32, 48, 64].filter((end) => end <= tokens)): ReadPrompt {
  return {
    hashes: Int32Array.from(ends.flatMap((end) => [0, end])),
    ends: Int32Array.from(ends, (end) => 4 * end),
    count: ends.length,
    characters: 4 * tokens,
    tokens,
  };
}

test("a text is lost when the block leaves in which it ends, from the end on", () => {
  store([1, 2, 3, 4]);
  expect(blocks.settle(prompt(70), 0)).toBe(true);
  remove(4);
  remove(3, 2);
  expect(lost).toEqual([64, 48, 32]);
  expect(blocks.size).toBe(1);
});

test("a prompt that goes on is found with what was stored before", () => {
  store([1, 2]);
  const since = blocks.now;
  store([3, 4], 2);
  expect(blocks.settle(prompt(64), since)).toBe(true);
  remove(1);
  expect(lost).toEqual([16]);
});

test("where several texts end in a block, the first of them is lost: the others come after it", () => {
  store([1, 2]);
  expect(blocks.settle(prompt(32, [4, 8, 16, 20, 32]), 0)).toBe(true);
  remove(2);
  remove(1);
  expect(lost).toEqual([20, 4]);
});

test("texts that are longer than a block are lost with the block of their end", () => {
  store([1, 2, 3, 4]);
  expect(blocks.settle(prompt(64, [30, 60]), 0)).toBe(true);
  remove(4, 3, 2, 1);
  expect(lost).toEqual([60, 30]);
});

describe("a prompt is not found", () => {
  test("where nothing was stored", () => {
    expect(blocks.settle(prompt(64), 0)).toBe(false);
  });

  test("where it is shorter than a block", () => {
    store([1]);
    expect(blocks.settle(prompt(10), 0)).toBe(false);
  });

  test("where it ends elsewhere", () => {
    store([1, 2, 3]);
    expect(blocks.settle(prompt(64), 0)).toBe(false);
  });

  test("where two prompts end alike", () => {
    store([1, 2]);
    store([3, 4]);
    expect(blocks.settle(prompt(32), 0)).toBe(false);
    expect(blocks.settle(prompt(32), 2)).toBe(true);
  });

  test("where it was stored before it was sent", () => {
    store([1, 2]);
    expect(blocks.settle(prompt(32), blocks.now)).toBe(false);
  });

  test("where its end has left already", () => {
    store([1, 2]);
    remove(2);
    expect(blocks.settle(prompt(32), 0)).toBe(false);
  });

  test("where what is before it was never told", () => {
    store([3, 4], 2);
    expect(blocks.settle(prompt(32), 0)).toBe(false);
  });
});

test("a place that another block has taken is not taken for the one before", () => {
  store([1, 2, 3]);
  remove(2);
  store([9]);
  expect(blocks.settle(prompt(48), 0)).toBe(true);
  remove(9);
  expect(lost).toEqual([]);
  remove(3);
  expect(lost).toEqual([48]);
});

test("more blocks than can be followed are not followed", () => {
  const few = new EngineBlocks(3, () => {});
  expect(store([1, 2, 3], undefined, few)).toBe(true);
  expect(store([4], 3, few)).toBe(false);
  expect(few.size).toBe(0);
});

test("remembers the blocks of a whole cache", () => {
  const many = new EngineBlocks(100_000, (_, low) => void lost.push(low));
  const chain = (from: number) => Array.from({ length: 100 }, (_, at) => from + at);
  for (let from = 0; from < 90_000; from += 100) {
    const since = many.now;
    store(chain(from), undefined, many);
    expect(many.settle({ ...prompt(1600, [1600]), hashes: Int32Array.of(0, from + 1) }, since)).toBe(true);
  }
  many.take({ kind: "removed", hashes: chain(45_000).map(hash) });
  expect(lost).toEqual([45_001]);
  expect(many.size).toBe(89_900);
});
