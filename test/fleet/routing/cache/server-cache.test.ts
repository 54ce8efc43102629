import { expect, test } from "@jest/globals";
import { ServerCache } from "#src/fleet/routing/cache/server-cache.ts";

test("a prompt that is used over and over takes no more of the cache than once, whatever its blocks' lengths", () => {
  const lost: number[] = [];
  const cache = new ServerCache(100, { gained: () => {}, lost: (_, low) => lost.push(low) });
  cache.use({ hashes: Int32Array.of(0, 1), ends: Int32Array.of(400), count: 1 });
  for (let turn = 0; turn < 1000; turn++) {
    cache.use({ hashes: Int32Array.of(0, 2, 0, 3), ends: Int32Array.of(67, 134), count: 2 });
    cache.bound(150);
  }
  expect(lost).toEqual([]);
});
