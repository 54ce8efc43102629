import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { readEmbeddings } from "#src/fleet/engines/shared/chat-completions/embeddings.ts";

const floats = Float32Array.of(0.1, -2, 3e-8);
const base64 = Buffer.from(floats.buffer).toString("base64");
const usage = { prompt_tokens: 7 };

test.each<[string, unknown]>([
  ["a list of numbers", Array.from(floats)],
  ["the base64 of its memory", base64],
])("a vector comes as %s", (_, embedding) => {
  const { vectors, inputTokens } = readEmbeddings("vllm", { data: [{ index: 0, embedding }], usage }, 1);
  expect(vectors).toEqual([floats]);
  expect(inputTokens).toBe(7);
});

test("order is by index, else by place", () => {
  const at = (index: number, first: number) => ({ index, embedding: [first] });
  expect(readEmbeddings("vllm", { data: [at(1, 11), at(0, 10)], usage }, 2).vectors).toEqual([
    Float32Array.of(10),
    Float32Array.of(11),
  ]);
  const data = [{ embedding: [10] }, { embedding: [11] }];
  expect(readEmbeddings("vllm", { data, usage }, 2).vectors[1]).toEqual(Float32Array.of(11));
});

test.each<[string, unknown]>([
  ["nothing", { usage }],
  ["a vector too few", { data: [{ index: 0, embedding: base64 }], usage }],
  ["the same one twice", { data: [0, 0].map((index) => ({ index, embedding: base64 })), usage }],
  ["half a number", { data: [0, 1].map((index) => ({ index, embedding: base64.slice(0, 4) })), usage }],
  ["an empty text", { data: [0, 1].map((index) => ({ index, embedding: "" })), usage }],
  ["no count", { data: [0, 1].map((index) => ({ index, embedding: base64 })) }],
  ["a count of nothing", { data: [0, 1].map((index) => ({ index, embedding: base64 })), usage: { prompt_tokens: 0 } }],
])("%s is a failure", (_, body) => {
  let failure: unknown;
  try {
    readEmbeddings("vllm", body, 2);
  } catch (error) {
    failure = error;
  }
  expect(readDetail(failure)?.reason).toBe(Reason.ENGINE_FAILED);
});
