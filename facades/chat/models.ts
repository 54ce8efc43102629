import { type Model as CoreModel, ModelKind, ThinkingMode } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { type ListModelsResponse, type Model, ModelType } from "#gen/tollgate/chat/v1/model_pb.js";
import { ratesOf } from "../http/core/models.ts";
import { listingOf } from "../http/feeds/listing.ts";
import { usdPerMillion, usdPerToken } from "../http/json/decimal.ts";
import { takenSampling } from "./request/sampling.ts";

/** The served models with their current prices: the own ones of the account whose key asks. */
export function modelList(models: readonly CoreModel[]): ListModelsResponse {
  return { $typeName: "tollgate.chat.v1.ListModelsResponse", object: "list", data: models.map(modelInfo) };
}

/** A served model in this surface's format, with the fields of aggregators whose listings clients read. */
export function modelInfo(model: CoreModel): Model {
  const isEmbedding = model.kind === ModelKind.EMBEDDING;
  const rates = ratesOf(model);
  const output = isEmbedding ? "embeddings" : "text";
  return {
    $typeName: "tollgate.chat.v1.Model",
    id: model.id,
    object: "model",
    created: Number(model.createdAt?.seconds ?? 0n),
    ownedBy: model.id.includes("/") ? model.id.slice(0, model.id.indexOf("/")) : "tollgate",
    name: model.displayName || model.id,
    type: isEmbedding ? ModelType.EMBEDDING : ModelType.GENERATION,
    contextLength: model.contextLength,
    pricing: {
      $typeName: "tollgate.chat.v1.ModelPricing",
      prompt: usdPerToken(rates.inputPicoUsdPerToken),
      completion: usdPerToken(rates.outputPicoUsdPerToken),
      image: "0",
      request: "0",
      inputCacheRead: usdPerToken(rates.inputPicoUsdPerToken),
    },
    pricePerMillion: {
      $typeName: "tollgate.chat.v1.ModelPricePerMillion",
      input: usdPerMillion(rates.inputPicoUsdPerToken),
      output: usdPerMillion(rates.outputPicoUsdPerToken),
      currency: "USD",
    },
    topProvider: {
      $typeName: "tollgate.chat.v1.TopProvider",
      contextLength: model.contextLength,
      ...(!isEmbedding && { maxCompletionTokens: model.maxOutputTokens }),
    },
    supportedParameters: listParameters(model),
    architecture: {
      $typeName: "tollgate.chat.v1.Architecture",
      modality: `text->${output}`,
      inputModalities: ["text"],
      outputModalities: [output],
    },
    ...(isEmbedding && { dimensions: model.dimensions }),
    ...listingOf(model),
  };
}

const generationParameters = [
  ...takenSampling.map(({ name }) => name),
  "max_tokens",
  "parallel_tool_calls",
  "stop",
  "tool_choice",
  "tools",
].sort();

/** Request fields that have an effect. */
function listParameters({ kind, thinking }: CoreModel): string[] {
  if (kind === ModelKind.EMBEDDING) {
    return ["encoding_format"];
  }
  return thinking === ThinkingMode.NONE
    ? generationParameters
    : [...generationParameters, "reasoning", "reasoning_effort", "thinking"];
}
