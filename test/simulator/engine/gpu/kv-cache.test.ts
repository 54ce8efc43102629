import { expect, test } from "@jest/globals";
import { type Block, KvCache } from "../../../../simulator/engine/gpu/kv-cache.ts";

function take(cache: KvCache): Block {
  const block = cache.take();
  if (block === undefined) {
    throw new Error("no memory");
  }
  return block;
}

test("gives out as many blocks as there are", () => {
  const cache = new KvCache(2);
  take(cache);
  const second = take(cache);
  expect(cache.take()).toBeUndefined();
  expect(cache.usage).toBe(1);
  cache.release([second]);
  expect(cache.usage).toBe(0.5);
});

test("keeps the content of released blocks until the memory is needed, least recently used first", () => {
  const cache = new KvCache(2);
  const [a, b] = [take(cache), take(cache)];
  cache.seal(a, 1);
  cache.seal(b, 2);
  cache.release([a]);
  cache.release([b]);
  expect(cache.usage).toBe(0);
  take(cache);
  expect(cache.reuse(1)).toBeUndefined();
  expect(cache.reuse(2)).toBe(b);
});

test("a block that several use is free only when the last gives it back", () => {
  const cache = new KvCache(1);
  const block = take(cache);
  cache.seal(block, 7);
  expect(cache.reuse(7)).toBe(block);
  cache.release([block]);
  expect(cache.available).toBe(0);
  cache.release([block]);
  expect(cache.available).toBe(1);
});

test("of two blocks with the same content one is known, and none is lost", () => {
  const cache = new KvCache(2);
  const [a, b] = [take(cache), take(cache)];
  cache.seal(a, 1);
  cache.seal(b, 1);
  cache.release([a, b]);
  expect(cache.available).toBe(2);
  expect([cache.take(), cache.take(), cache.take()].filter(Boolean)).toHaveLength(2);
});
