import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail, readTokenBound } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import type { ServedModel } from "#src/fleet/catalogue/interface.ts";
import type { Fleet } from "#src/fleet/interface.ts";
import { measureInputs } from "#src/services/embeddings/measure-inputs.ts";

const model = { context_length: 100, thinking: { mode: "none" } } as ServedModel;
const { signal } = new AbortController();
const counting = (count: number | undefined) => ({ countTokens: async () => count }) as unknown as Fleet;
const uncounted = {
  countTokens: async () => {
    throw new Error("the tokenizer must not be asked");
  },
} as unknown as Fleet;

test("short inputs are bounded by their bytes", async () => {
  expect(await measureInputs(["abc", "é"], model, uncounted, signal)).toBe(3 + 16 + 2 + 16);
});

test("a long input is counted", async () => {
  expect(await measureInputs(["abc", "x".repeat(200)], model, counting(100), signal)).toBe(3 + 16 + 100);
});

test("without a tokenizer the engine's answer decides, about as many tokens as the model takes", async () => {
  expect(await measureInputs(["x".repeat(200)], model, counting(undefined), signal)).toBe(100);
});

test("an input over the limit is refused by index, with its count and the limit", async () => {
  const error = await measureInputs(["abc", "x".repeat(200)], model, counting(101), signal).catch(
    (thrown: unknown) => thrown,
  );
  expect(readDetail(error)).toMatchObject({
    reason: Reason.INPUT_TOO_LONG,
    parameter: "inputs[1]",
    bound: { case: "tokens", value: { limit: 100n, actual: 101n } },
  });
});

test("an input that the engine gives up to count is refused by index", async () => {
  const refusing = {
    countTokens: () => Promise.reject(failure(Reason.INPUT_TOO_LONG, "too long")),
  } as unknown as Fleet;
  const inputs = ["abc", "x".repeat(200)];
  const error = await measureInputs(inputs, model, refusing, signal).catch((thrown: unknown) => thrown);
  const detail = readDetail(error);
  expect(detail).toMatchObject({
    reason: Reason.INPUT_TOO_LONG,
    parameter: "inputs[1]",
    bound: { value: { limit: 100n } },
  });
  expect(detail && readTokenBound(detail).actual).toBeUndefined();
});
