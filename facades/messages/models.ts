import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Model as CoreModel, ModelKind as CoreModelKind } from "#gen/tollgate/catalogue/v1/model_pb.js";
import {
  type ListModelsRequest,
  type ListModelsResponse,
  type Model,
  ModelKind,
} from "#gen/tollgate/messages/v1/model_pb.js";
import { ratesOf } from "../http/core/models.ts";
import { usdPerMillion, usdPerToken } from "../http/json/decimal.ts";

/** The models on a page, unless the caller sets a limit. */
const defaultLimit = 20;

/** One page of the served models. A cursor that names no served model gives an empty page, so that no client loops. */
export function modelsPage(models: readonly CoreModel[], page: ListModelsRequest): ListModelsResponse {
  const limit = page.limit ?? defaultLimit;
  const backwards = page.afterId === "" && page.beforeId !== "";
  const candidates = backwards ? before(models, page.beforeId) : after(models, page.afterId);
  const shown = backwards ? candidates.slice(-limit) : candidates.slice(0, limit);
  const first = shown[0];
  const last = shown.at(-1);
  return {
    $typeName: "tollgate.messages.v1.ListModelsResponse",
    data: shown.map(modelInfo),
    hasMore: shown.length < candidates.length,
    ...(first !== undefined && { firstId: first.id }),
    ...(last !== undefined && { lastId: last.id }),
  };
}

/** A served model in this surface's format. */
export function modelInfo(model: CoreModel): Model {
  const rates = ratesOf(model);
  return {
    $typeName: "tollgate.messages.v1.Model",
    type: "model",
    id: model.id,
    displayName: model.displayName || model.id,
    createdAt: rfc3339(model),
    maxInputTokens: model.contextLength,
    ...(model.kind === CoreModelKind.GENERATION && { maxTokens: model.maxOutputTokens }),
    lifecycle: "active",
    kind: model.kind === CoreModelKind.EMBEDDING ? ModelKind.EMBEDDING : ModelKind.GENERATION,
    pricing: {
      $typeName: "tollgate.messages.v1.ModelPricing",
      prompt: usdPerToken(rates.inputPicoUsdPerToken),
      completion: usdPerToken(rates.outputPicoUsdPerToken),
    },
    pricePerMillion: {
      $typeName: "tollgate.messages.v1.ModelPricePerMillion",
      input: usdPerMillion(rates.inputPicoUsdPerToken),
      output: usdPerMillion(rates.outputPicoUsdPerToken),
      currency: "USD",
    },
  };
}

function after(models: readonly CoreModel[], id: string): readonly CoreModel[] {
  if (id === "") {
    return models;
  }
  const at = models.findIndex((model) => model.id === id);
  return at === -1 ? [] : models.slice(at + 1);
}

function before(models: readonly CoreModel[], id: string): readonly CoreModel[] {
  const at = models.findIndex((model) => model.id === id);
  return at === -1 ? [] : models.slice(0, at);
}

/** Formats a time in whole seconds: "2026-01-31T12:00:00Z". */
function rfc3339({ createdAt }: CoreModel): string {
  const date = createdAt === undefined ? new Date(0) : timestampDate(createdAt);
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}
