import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { SamplingSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { samplingFields } from "#lib/inference/sampling.ts";
import { type SamplingDialect, writeSampling } from "#src/fleet/engines/shared/sampling.ts";

const all = create(SamplingSchema, {
  temperature: 0.5,
  topP: 0.9,
  topK: 0,
  presencePenalty: 1,
  frequencyPenalty: -1,
  seed: -1n,
  minP: 0.1,
  repetitionPenalty: 1.2,
});
const usual = { temperature: 0.5, top_p: 0.9, presence_penalty: 1, frequency_penalty: -1, seed: -1 };
const penalised = { min_p: 0.1, repetition_penalty: 1.2 };
const repeating = { min_p: 0.1, repeat_penalty: 1.2 };
const embedded = {
  temperature: 0.5,
  topP: 0.9,
  topK: 0,
  presencePenalty: 1,
  frequencyPenalty: -1,
  minP: 0.1,
  penalty: 1.2,
};

test.each<[SamplingDialect, object]>([
  ["vllm", { ...usual, ...penalised, top_k: -1 }],
  ["sglang", { ...usual, ...penalised, top_k: -1 }],
  ["llama.cpp", { ...usual, ...repeating, top_k: 0 }],
  ["trtllm", { ...usual, ...penalised, top_k: 0 }],
  ["openai", usual],
  ["ollama", { ...usual, ...repeating, top_k: 0 }],
  ["embedded", { ...embedded, seed: 4_294_967_295 }],
])("%s gets every field that it takes in its own words", (dialect, expected) => {
  expect(writeSampling(all, dialect)).toEqual(expected);
});

test("what was not said is not written", () => {
  expect(writeSampling(create(SamplingSchema, { temperature: 0 }), "vllm")).toEqual({ temperature: 0 });
});

test("the table knows every field of the contract by its name in JSON", () => {
  const names = Object.fromEntries(SamplingSchema.fields.map(({ localName, name }) => [localName, name]));
  expect(Object.fromEntries(Object.entries(samplingFields).map(([field, { name }]) => [field, name]))).toEqual(names);
});

test.each([
  ["vllm", 2n ** 60n + 1n, 1],
  ["ollama", 2n ** 31n, -(2 ** 31)],
  ["embedded", -1n, 2 ** 32 - 1],
] as const)("a seed fits the numbers of %s", (dialect, seed, expected) => {
  expect(writeSampling(create(SamplingSchema, { seed }), dialect)).toEqual({ seed: expected });
});
