import { describe, expect, test } from "@jest/globals";
import { encode } from "@msgpack/msgpack";
import { readBatch } from "../../../src/fleet/kv-events/events.ts";
import { SeededRandom } from "../seeded-random.ts";

const pack = (value: unknown) => Buffer.from(encode(value, { useBigInt64: true }));
const batch = (...events: unknown[]) => pack([1763.5, events, 0]);
const tokens = Array.from({ length: 32 }, (_, at) => at * 9001);

describe("events are read as", () => {
  test.each([
    [
      "vLLM has sent them, arrays",
      ["BlockStored", [7, 2n ** 63n + 5n], 3, tokens, 16, null, "GPU", null, [["salt"], null]],
    ],
    [
      "vLLM sends them, maps",
      {
        type: "BlockStored",
        block_hashes: [7, 2n ** 63n + 5n],
        parent_block_hash: 3,
        token_ids: tokens,
        block_size: 16,
        ...{ lora_id: null, medium: "GPU", lora_name: null, extra_keys: [["salt"], null], group_idx: 0 },
      },
    ],
    ["SGLang sends them", ["BlockStored", [7, -(2n ** 63n) + 5n], 3, tokens, 16, null]],
  ])("%s", (_, event) => {
    const parent = { high: 0, low: 3 };
    const hashes = [
      { high: 0, low: 7 },
      { high: -(2 ** 31), low: 5 },
    ];
    const expected = [{ kind: "stored", hashes, parent, blockTokens: 16 }];
    expect(readBatch(batch(event))).toEqual(expected);
    expect(readBatch(pack({ ts: 1763.5, events: [event], data_parallel_rank: 0 }))).toEqual(expected);
  });

  test("hashes of 32 bytes, by their first eight", () => {
    const hash = Uint8Array.from({ length: 32 }, (_, at) => at + 1);
    const hashes = [{ high: 0x01020304, low: 0x05060708 }];
    expect(readBatch(batch(["BlockRemoved", [hash]]))).toEqual([{ kind: "removed", hashes }]);
  });

  test("hashes of few bits, below zero, too", () => {
    const numbers = [0, 127, 255, 65_535, 2 ** 31, 2 ** 32 - 1, -1, -100, -30_000, -(2 ** 31)];
    const hashes = numbers.map((number) => ({ high: number < 0 ? -1 : 0, low: number | 0 }));
    expect(readBatch(batch(["BlockRemoved", numbers]))).toEqual([{ kind: "removed", hashes }]);
  });
});

test.each([
  ["a beginning", ["BlockStored", [7], null, tokens, 16, null], [{ kind: "stored", blockTokens: 16 }]],
  ["a removal", ["BlockRemoved", [7], "GPU", 0], [{ kind: "removed" }]],
  ["an empty cache", ["AllBlocksCleared"], [{ kind: "cleared" }]],
  ["an empty cache as a map", { type: "AllBlocksCleared" }, [{ kind: "cleared" }]],
  ["what left for the memory of the CPU", ["BlockStored", [7], null, tokens, 16, null, "CPU"], []],
  ["what left that memory", ["BlockRemoved", [7], "CPU"], []],
  ["further groups of layers", ["BlockStored", [7], null, tokens, 16, null, "GPU", null, null, 1], []],
  ["a kind of the future", ["BlockMoved", { a: [1, 2.5, "x", null, true] }], []],
  ["a block of no tokens", ["BlockStored", [7], null, [], 0, null], []],
  ["no block", ["BlockStored", [], null, [], 16, null], []],
])("%s", (_, event, expected) => {
  expect(readBatch(batch(event, ["BlockRemoved", [9]]))).toMatchObject([...expected, { kind: "removed" }]);
});

test.each([
  ["nothing", Buffer.alloc(0)],
  ["a text", pack("BlockStored")],
  ["a batch without events", pack([1.5])],
  ["a map without events", pack({ ts: 1 })],
  ["events that are none", pack([1.5, ["BlockStored"]])],
  ["hashes that are none", batch(["BlockRemoved", ["x"]])],
  ["a nest without end", Buffer.alloc(100_000, 0x91)],
  ["an array that ends too early", Buffer.from("92cb0000000000000000ddffffffff", "hex")],
  ["an array to be skipped that ends too early", Buffer.from("92ddffffffff", "hex")],
])("%s is no batch", (_, bytes) => {
  expect(() => readBatch(bytes)).toThrow();
});

test("bytes that are wrong somewhere are read or refused, at once", () => {
  const random = new SeededRandom(5);
  const good = batch(["BlockStored", [7, 8], 3, tokens, 16, null, "GPU"], ["BlockRemoved", [7]]);
  for (let at = 0; at < 5000; at++) {
    const bad = Buffer.from(good);
    bad[random.between(0, bad.length - 1)] = random.between(0, 255);
    try {
      readBatch(bad.subarray(0, random.between(1, bad.length)));
    } catch (error) {
      expect(error).toBeInstanceOf(Error);
    }
  }
});
