import { expect, test } from "@jest/globals";
import { type Model, ModelKind, ThinkingMode } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { ModelSchema } from "#gen/tollgate/messages/v1/model_pb.js";
import { jsonEncoder } from "../../../facades/http/json/encoder.ts";
import { modelInfo, modelsPage } from "../../../facades/messages/models.ts";

function model(id: string, fields: Partial<Model> = {}): Model {
  return {
    $typeName: "tollgate.catalogue.v1.Model",
    id,
    displayName: "",
    kind: ModelKind.GENERATION,
    contextLength: 131072,
    maxOutputTokens: 32768,
    inputPicoUsdPerToken: 200_000n,
    outputPicoUsdPerToken: 250_000n,
    thinking: ThinkingMode.NONE,
    thinkingDepths: false,
    createdAt: { $typeName: "google.protobuf.Timestamp", seconds: 1_767_225_600n, nanos: 5_000_000 },
    dimensions: 0,
    ...fields,
  };
}

const json = jsonEncoder(ModelSchema);

test("a generation model", () => {
  expect(JSON.parse(json(modelInfo(model("a/b", { displayName: "B" }))))).toEqual({
    type: "model",
    id: "a/b",
    display_name: "B",
    created_at: "2026-01-01T00:00:00Z",
    max_input_tokens: 131072,
    max_tokens: 32768,
    lifecycle: "active",
    capabilities: null,
    line: null,
    deprecated_at: null,
    retires_at: null,
    allowed_fallback_models: null,
    kind: "generation",
    pricing: { prompt: "0.0000002", completion: "0.00000025" },
    price_per_million: { input: "0.2", output: "0.25", currency: "USD" },
  });
});

test("an embedding model", () => {
  const embedding = model("e", { kind: ModelKind.EMBEDDING, maxOutputTokens: 0, outputPicoUsdPerToken: 0n });
  expect(JSON.parse(json(modelInfo(embedding)))).toMatchObject({
    display_name: "e",
    max_tokens: null,
    kind: "embedding",
    pricing: { completion: "0" },
  });
});

const served = ["a", "b", "c", "d", "e"].map((id) => model(id));

test.each<[{ limit?: number; afterId?: string; beforeId?: string }, string, boolean]>([
  [{}, "abcde", false],
  [{ limit: 2 }, "ab", true],
  [{ limit: 5 }, "abcde", false],
  [{ limit: 2, afterId: "b" }, "cd", true],
  [{ limit: 2, afterId: "c" }, "de", false],
  [{ afterId: "e" }, "", false],
  [{ limit: 2, beforeId: "e" }, "cd", true],
  [{ limit: 2, beforeId: "c" }, "ab", false],
  [{ beforeId: "a" }, "", false],
  [{ afterId: "x" }, "", false],
  [{ beforeId: "x" }, "", false],
])("page %j", (page, ids, hasMore) => {
  const shown = modelsPage(served, {
    $typeName: "tollgate.messages.v1.ListModelsRequest",
    afterId: "",
    beforeId: "",
    ...page,
  });
  expect(shown.data.map(({ id }) => id).join("")).toBe(ids);
  expect(shown.hasMore).toBe(hasMore);
  expect(shown.firstId).toBe(ids === "" ? undefined : ids.at(0));
  expect(shown.lastId).toBe(ids === "" ? undefined : ids.at(-1));
});

test("a page has 20 models unless the caller says", () => {
  const many = Array.from({ length: 30 }, (_, i) => model(`m${i}`));
  const shown = modelsPage(many, { $typeName: "tollgate.messages.v1.ListModelsRequest", afterId: "", beforeId: "" });
  expect(shown.data).toHaveLength(20);
  expect(shown.hasMore).toBe(true);
});
