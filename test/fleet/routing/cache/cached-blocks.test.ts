import { expect, test } from "@jest/globals";
import { CachedBlocks } from "../../../../src/fleet/routing/cache/cached-blocks.ts";
import { SeededRandom } from "../../seeded-random.ts";

function create(most = 1000) {
  const lost: number[] = [];
  const cache = new CachedBlocks(most, (_, low) => lost.push(low));
  return { cache, lost };
}

test("loses what was used longest ago when it holds more than a server's cache", () => {
  const { cache, lost } = create();
  for (const block of [1, 2, 3]) {
    cache.use(0, block, 100);
  }
  cache.use(0, 1, 100);
  cache.bound(200);
  expect([lost, cache.characters]).toEqual([[2], 200]);
});

test("loses all that was not used after a block that is gone", () => {
  const { cache, lost } = create();
  for (const block of [1, 2, 3, 4]) {
    cache.use(0, block, 10);
  }
  cache.use(0, 1, 10);
  const before = cache.use(0, 3, 10);
  cache.loseUntil(before ?? Number.NaN);
  expect([lost, cache.characters]).toEqual([[2], 30]);
  expect(cache.use(0, 2, 10)).toBeUndefined();
});

test("holds no more blocks than it may", () => {
  const { cache, lost } = create(3);
  for (const block of [1, 2, 3, 4, 5]) {
    cache.use(block, block, 1);
  }
  expect([lost, cache.characters]).toEqual([[1, 2], 3]);
});

test("holds and loses as a plain list does", () => {
  const random = new SeededRandom(3);
  const { cache, lost } = create();
  const list = new Map<number, number>();
  const expected: number[] = [];
  for (let turn = 0; turn < 20_000; turn++) {
    const block = random.between(0, 1500);
    const tokens = random.between(1, 50);
    // Chains are told apart by both halves of a hash.
    cache.use(block >> 1, block << 8, tokens);
    list.delete(block);
    list.set(block, tokens);
    cache.bound(9000);
    for (const [oldest] of list) {
      const held = [...list.values()].reduce((sum, one) => sum + one, 0);
      if (held <= 9000) {
        break;
      }
      list.delete(oldest);
      expected.push(oldest << 8);
    }
  }
  expect(lost).toEqual(expected);
});
