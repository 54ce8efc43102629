import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { UnrefusedInput } from "#src/fleet/engines/interface.ts";
import { type BatchEmbedder, embedInBatches } from "#src/fleet/engines/shared/embeddings/embed-in-batches.ts";

/** An engine that counts a token a word. Its limit is 20; a text of 5 bytes or more may be too long, with what is added. */
function embedder(more: Partial<BatchEmbedder> = {}) {
  const batches: (readonly string[])[] = [];
  const embed = async (inputs: readonly string[]) => {
    batches.push(inputs);
    const counts = inputs.map((input) => input.split(" ").length);
    return { vectors: counts.map((count) => Float32Array.of(count)), inputTokens: counts.reduce((a, b) => a + b, 0) };
  };
  return { batches, engine: { size: 3, limit: 20, embed, count: async () => undefined, ...more } };
}

test("inputs are embedded in batches, in their order", async () => {
  const { batches, engine } = embedder();
  const { vectors, inputTokens } = await embedInBatches(["a", "b b", "c c c", "d", "e e"], engine);
  expect(batches).toEqual([
    ["a", "b b", "c c c"],
    ["d", "e e"],
  ]);
  expect(vectors.map(([count]) => count)).toEqual([1, 2, 3, 1, 2]);
  expect(inputTokens).toBe(9);
});

test("where the engine may cut, an input that may be too long is embedded alone", async () => {
  const { batches, engine } = embedder({ mayCut: {} });
  await embedInBatches(["a", "b", "c c c c c", "d d d d d", "e", "f"], engine);
  expect(batches).toEqual([["a", "b"], ["c c c c c"], ["d d d d d"], ["e", "f"]]);
});

test("also one that is too long only with what its model is known to add", async () => {
  const { batches, engine } = embedder({ mayCut: { templateTokens: 18 } });
  await embedInBatches(["a", "b b", "c", "d"], engine);
  expect(batches).toEqual([["a"], ["b b"], ["c", "d"]]);
});

test("and refused by its count", async () => {
  const { engine } = embedder({ mayCut: {} });
  const long = "w ".repeat(21).trim();
  const error = await embedInBatches(["a", long], engine).catch((thrown: Error) => thrown);
  expect(readDetail(error)).toMatchObject({
    reason: Reason.INPUT_TOO_LONG,
    parameter: "inputs[1]",
    bound: { value: { limit: 20n, actual: 21n } },
  });
  expect((error as Error).cause).toBeInstanceOf(UnrefusedInput);
});
