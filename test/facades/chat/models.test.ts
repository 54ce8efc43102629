import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { ModelKind, ModelSchema, ThinkingMode } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { ListModelsResponseSchema } from "#gen/tollgate/chat/v1/model_pb.js";
import { modelList } from "../../../facades/chat/models.ts";
import { writeProviderDocument } from "../../../facades/http/feeds/provider-document.ts";
import { jsonEncoder } from "../../../facades/http/json/encoder.ts";
import { expectDescribed } from "../http/openapi.ts";

const write = jsonEncoder(ListModelsResponseSchema);
const written = (...models: Parameters<typeof create<typeof ModelSchema>>[1][]) => {
  const json = JSON.parse(write(modelList(models.map((model) => create(ModelSchema, model)))));
  expectDescribed("/v1/models", "get", 200, json);
  return json;
};

test("a generation model", () => {
  const model = {
    id: "deepseek/deepseek-v4",
    displayName: "DeepSeek V4",
    kind: ModelKind.GENERATION,
    contextLength: 131072,
    maxOutputTokens: 32768,
    inputPicoUsdPerToken: 200_000n,
    outputPicoUsdPerToken: 250_001n,
    thinking: ThinkingMode.DEFAULT_OFF,
    createdAt: { seconds: 1769860800n },
  };
  expect(written(model)).toMatchObject({
    object: "list",
    data: [
      {
        id: "deepseek/deepseek-v4",
        object: "model",
        created: 1769860800,
        owned_by: "deepseek",
        name: "DeepSeek V4",
        type: "generation",
        context_length: 131072,
        pricing: { prompt: "0.0000002", completion: "0.000000250001" },
        price_per_million: { input: "0.2", output: "0.250001", currency: "USD" },
        top_provider: { context_length: 131072, max_completion_tokens: 32768 },
        supported_parameters: expect.arrayContaining(["tools", "reasoning_effort"]),
        architecture: { modality: "text->text", input_modalities: ["text"], output_modalities: ["text"] },
      },
    ],
  });
});

test("an account's own rates stand in the place of the general ones, which feeds go on to tell", () => {
  const own = { inputPicoUsdPerToken: 170_000n, outputPicoUsdPerToken: 212_501n };
  const general = { inputPicoUsdPerToken: 200_000n, outputPicoUsdPerToken: 250_001n };
  const model = { id: "m", kind: ModelKind.GENERATION, contextLength: 4096, ...general, ownRates: own };
  expect(written(model).data).toMatchObject([
    {
      pricing: { prompt: "0.00000017", completion: "0.000000212501", input_cache_read: "0.00000017" },
      price_per_million: { input: "0.17", output: "0.212501" },
    },
  ]);
  const listed = JSON.parse(writeProviderDocument([create(ModelSchema, { ...model, card: { isReady: true } })]));
  expect(JSON.stringify(listed)).toContain("0.000000250001");
  expect(JSON.stringify(listed)).not.toContain("0.000000212501");
});

test("an embedding model", () => {
  const model = {
    id: "bge-m3",
    kind: ModelKind.EMBEDDING,
    contextLength: 8192,
    dimensions: 1024,
    inputPicoUsdPerToken: 10_000n,
  };
  expect(written(model).data[0]).toMatchObject({
    owned_by: "tollgate",
    name: "bge-m3",
    type: "embedding",
    pricing: { prompt: "0.00000001", completion: "0" },
    price_per_million: { input: "0.01", output: "0" },
    top_provider: { context_length: 8192, max_completion_tokens: null },
    dimensions: 1024,
    supported_parameters: ["encoding_format"],
  });
});

test("a model that never thinks takes no thinking fields", () => {
  const model = { id: "m", kind: ModelKind.GENERATION, thinking: ThinkingMode.NONE };
  expect(written(model).data[0].supported_parameters).not.toContain("reasoning_effort");
});
