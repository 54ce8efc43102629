import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { EmbedRequestSchema } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { GenerateRequestSchema, TextBatchSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readTokenBound } from "#src/services/limits/token-bound.ts";

const value = "x".repeat(400); // about 100 tokens
const text = { case: "text", value } as const;
const texts = { case: "texts", value: create(TextBatchSchema, { texts: [value, value] }) } as const;

test.each([
  ["a prompt that asks for no length", create(GenerateRequestSchema, { prompt: text }), 1124],
  ["a prompt that asks for a length", create(GenerateRequestSchema, { prompt: text, maxOutputTokens: 10 }), 110],
  ["one that asks for more than is usual", create(GenerateRequestSchema, { prompt: text, maxOutputTokens: 1e6 }), 4196],
  ["several prompts", create(GenerateRequestSchema, { prompt: texts, maxOutputTokens: 10 }), 220],
  ["no prompt", create(GenerateRequestSchema, {}), 1024],
  ["inputs that are embedded", create(EmbedRequestSchema, { inputs: [value, value] }), 200],
])("%s", (_, message, bound) => {
  expect(readTokenBound(message)).toBe(bound);
});
