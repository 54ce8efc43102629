import { expect, test } from "@jest/globals";
import { CachedBlocks } from "#src/fleet/routing/cache/cached-blocks.ts";
import { SeededRandom } from "../../seeded-random.ts";

function create(most = 1000) {
  const gained: number[] = [];
  const lost: number[] = [];
  const onChange = {
    gained: (_: number, low: number) => gained.push(low),
    lost: (_: number, low: number) => lost.push(low),
  };
  const cache = new CachedBlocks(most, onChange);
  return { cache, gained, lost };
}

const unheard = { gained: () => {}, lost: () => {} };

/** A prompt of blocks by the lower halves of their hashes, of a hundred characters each. */
function prompt(...blocks: number[]) {
  return {
    count: blocks.length,
    hashes: Int32Array.from(blocks.flatMap((low) => [0, low])),
    ends: Int32Array.from(blocks, (_, at) => 100 * (at + 1)),
  };
}

test("loses what was used longest ago when it holds more than a server's cache", () => {
  const { cache, lost } = create();
  for (const block of [1, 2, 3]) {
    cache.use(prompt(block));
  }
  cache.use(prompt(1));
  cache.bound(200);
  expect([lost, cache.characters]).toEqual([[2], 200]);
});

test("loses the end of a prompt before its beginning, and what another one shares with it last", () => {
  const { cache, gained, lost } = create();
  cache.use(prompt(1, 2, 3));
  cache.use(prompt(1, 2, 4));
  cache.use(prompt(1));
  expect(gained).toEqual([1, 2, 3, 4]);
  for (const left of [300, 200, 100, 0]) {
    cache.bound(left);
  }
  expect(lost).toEqual([3, 4, 2, 1]);
});

test("loses all that was not used after a block that is gone", () => {
  const { cache, lost } = create();
  for (const block of [1, 2, 3, 4]) {
    cache.use(prompt(block));
  }
  cache.use(prompt(1));
  cache.loseUntil(cache.lastUse(0, 3) ?? Number.NaN);
  expect([lost, cache.characters]).toEqual([[2, 3], 200]);
  expect(cache.lastUse(0, 2)).toBeUndefined();
});

test("holds no more blocks than it may, the beginning of a prompt that is longer than that", () => {
  const { cache, gained, lost } = create(3);
  for (const block of [1, 2, 3, 4, 5]) {
    cache.use(prompt(block));
  }
  expect([lost, cache.characters]).toEqual([[1, 2], 300]);
  cache.use(prompt(6, 7, 8, 9));
  expect([lost, cache.characters]).toEqual([[1, 2, 3, 4, 5], 300]);
  cache.use(prompt(6, 7, 8, 9));
  expect(gained).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

/** The same by a list of all blocks in the order of their last use. */
class PlainList {
  readonly lost: number[] = [];
  readonly blocks = new Map<number, number>();
  characters = 0;

  use(path: readonly number[]): void {
    for (const block of path.toReversed()) {
      this.characters += this.blocks.delete(block) ? 0 : 100;
      this.blocks.set(block, 0);
    }
  }

  lose(block: number): void {
    if (this.blocks.delete(block)) {
      this.characters -= 100;
      this.lost.push(block);
    }
  }

  bound(characters: number): void {
    for (const block of this.blocks.keys()) {
      if (this.characters > characters) {
        this.lose(block);
      }
    }
  }

  loseUntil(block: number): void {
    for (const one of [...this.blocks.keys()]) {
      this.lose(one);
      if (one === block) {
        return;
      }
    }
  }
}

test("holds and loses as a plain list of all blocks does", () => {
  const random = new SeededRandom(3);
  const { cache, gained, lost } = create(100_000);
  const list = new PlainList();
  for (let turn = 0; turn < 10_000; turn++) {
    // A path in a tree where each block has three after it; a block's name says the way to it.
    const length = random.between(1, 9);
    let name = random.between(16, 31);
    const path = Array.from({ length }, (_, at) => {
      name = at === 0 ? name : 4 * name + random.between(0, 2);
      return name << 4;
    });
    const last = path.at(-1) as number;
    cache.use(prompt(...path));
    list.use(path);
    cache.bound(9000);
    list.bound(9000);
    if (turn % 500 === 499 && cache.lastUse(0, last) !== undefined) {
      const some = [...list.blocks.keys()][10] as number;
      cache.loseUntil(cache.lastUse(0, some) as number);
      list.loseUntil(some);
    }
  }
  expect(lost.length).toBeGreaterThan(10_000);
  expect(lost).toEqual(list.lost);
  expect(gained.length - lost.length).toBe(list.blocks.size);
  expect(cache.characters).toBe(list.characters);
});

test("caches that count uses together tell which of them loses sooner what it has", () => {
  const count = { uses: 0 };
  const [small, large] = [new CachedBlocks(1000, unheard, count), new CachedBlocks(1000, unheard, count)];
  for (let block = 0; block < 20; block++) {
    small.use(prompt(block));
    large.use(prompt(block));
    expect(large.age).toBe(block < 16 ? Number.POSITIVE_INFINITY : 30); // it has lost nothing, or has 16 blocks, two uses apart
    small.bound(500);
    large.bound(1500);
  }
  expect([small.age, large.age]).toEqual([9, 28]);
});
