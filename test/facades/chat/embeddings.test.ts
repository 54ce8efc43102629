import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { CreateEmbeddingRequestSchema, CreateEmbeddingResponseSchema } from "#gen/tollgate/chat/v1/embedding_pb.js";
import { EmbedResponseSchema } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { embeddingResponse, embedRequest } from "../../../facades/chat/embeddings.ts";
import { jsonDecoder } from "../../../facades/http/json/decoder.ts";
import { jsonEncoder } from "../../../facades/http/json/encoder.ts";
import { expectDescribed } from "../http/openapi.ts";

const decode = jsonDecoder(CreateEmbeddingRequestSchema);
const write = jsonEncoder(CreateEmbeddingResponseSchema);

/** A vector as the core gives it, at an odd place in its buffer as a message from the wire has it. */
function vector(...numbers: number[]): Uint8Array {
  const bytes = new Uint8Array(1 + numbers.length * 4).subarray(1);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  for (const [i, number] of numbers.entries()) {
    view.setFloat32(i * 4, number, true);
  }
  return bytes;
}

function answered(body: object) {
  const response = create(EmbedResponseSchema, { vectors: [vector(0.5, -1), vector(0.1, 3)], inputTokens: 9n });
  const json = JSON.parse(write(embeddingResponse(decode({ model: "m", input: ["a", "b"], ...body }), response)));
  expectDescribed("/v1/embeddings", "post", 200, json);
  return json;
}

test.each<[body: object, inputs: string[]]>([
  [{ input: "a" }, ["a"]],
  [{ input: ["a"] }, ["a"]],
  [{ input: ["b", "a"], user: "u", dimensions: null }, ["b", "a"]],
])("%j", (body, inputs) => {
  expect(embedRequest(decode({ model: "m", ...body }), "req_1", {})).toEqual({
    $typeName: "tollgate.embeddings.v1.EmbedRequest",
    requestId: "req_1",
    model: "m",
    labels: {},
    inputs,
  });
});

test.each([{}, { encoding_format: "float" }, { encoding_format: null }])("%j: numbers", (body) => {
  expect(answered(body)).toEqual({
    object: "list",
    model: "m",
    data: [
      { object: "embedding", index: 0, embedding: [0.5, -1] },
      { object: "embedding", index: 1, embedding: [Math.fround(0.1), 3] },
    ],
    usage: { prompt_tokens: 9, total_tokens: 9, cost: 0 },
  });
});

test("base64 is little-endian float32, padded", () => {
  const { data } = answered({ encoding_format: "base64" });
  const bytes = Buffer.from(data[1].embedding, "base64");
  expect(data[1].embedding).toHaveLength(12);
  expect([bytes.readFloatLE(0), bytes.readFloatLE(4)]).toEqual([Math.fround(0.1), 3]);
});

test("1024 dimensions are 5464 characters", () => {
  const response = create(EmbedResponseSchema, { vectors: [new Uint8Array(4096)] });
  const { data } = embeddingResponse(decode({ model: "m", input: "a", encoding_format: "base64" }), response);
  expect(data[0]?.embedding?.form.value).toHaveLength(5464);
});
