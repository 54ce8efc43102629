import { type Model, ModelKind } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { type Bounds, samplingEntries } from "#lib/inference/sampling.ts";
import { usdPerToken } from "../json/decimal.ts";
import { invalidField } from "../request/error.ts";
import { featuresOf } from "./listing.ts";

/** The version of OpenRouter's document for providers: https://openrouter.ai/docs/guides/providers/integration */
const version = "2.4";

/** Refuses a version that is not written here. */
export function checkSchemaVersion(asked: string | undefined): void {
  if (asked !== undefined && asked !== version) {
    throw invalidField("schema_version", `must be ${version}, or be left out for the flat list`);
  }
}

/** OpenRouter's document for providers: each model as its kinds of input and output, which own their limits and prices. */
export function writeProviderDocument(models: readonly Model[]): string {
  return JSON.stringify({ data: models.map(describe) });
}

function describe(model: Model) {
  const { card } = model;
  return {
    schema_version: version,
    id: model.id,
    name: model.displayName || model.id,
    ...(card?.huggingFaceId && { hugging_face_id: card.huggingFaceId }), // without it OpenRouter finds the model by its id
    created: Number(model.createdAt?.seconds ?? 0n),
    quantization: card?.quantization || null,
    ...(card?.tokenizer && { tokenizer: card.tokenizer }),
    ...(card?.description && { description: card.description }),
    input_modalities: [
      {
        type: "text",
        supported_inputs: { max_context_length: tokens(model.contextLength) },
        pricing: [price("prompt", model.inputPicoUsdPerToken)],
      },
    ],
    output_modalities: [model.kind === ModelKind.EMBEDDING ? vectors : describeText(model)],
    ...(card?.deprecationDate && { deprecation_date: card.deprecationDate }),
    ...(card?.countries.length && { datacenters: card.countries.map((country_code) => ({ country_code })) }),
    ...(card?.openrouterSlug && { openrouter: { slug: card.openrouterSlug } }),
    is_ready: card?.isReady ?? true,
  };
}

/** Vectors cost what their input costs. */
const vectors = {
  type: "embeddings",
  supported_parameters: { encoding_format: { type: "enum", values: ["float", "base64"] } },
};

function describeText({ maxOutputTokens, outputPicoUsdPerToken, thinking }: Model) {
  return {
    type: "text",
    streaming: true,
    max_length: tokens(maxOutputTokens),
    supported_parameters: {
      ...sampling,
      max_tokens: { type: "integer", min: 1, max: maxOutputTokens, unit: "token" },
      stop: { type: "array" },
      ...Object.fromEntries(featuresOf(thinking).map((feature) => [feature, { type: "boolean" }])),
    },
    pricing: [price("completion", outputPicoUsdPerToken)],
  };
}

/** The fields that control how tokens are chosen, with the contract's bounds. */
const sampling = Object.fromEntries(samplingEntries.map(({ name, bounds }) => [name, toParameter(bounds)]));

function toParameter(bounds: Bounds | undefined) {
  return bounds === undefined
    ? { type: "integer" }
    : { type: "range", min: bounds.min ?? bounds.above, max: bounds.max };
}

function tokens(value: number) {
  return { value, unit: "token" };
}

/** Prices are text, so that they are exact. */
function price(type: "prompt" | "completion", picoPerToken: bigint) {
  return { type, unit: "token", cost_usd: usdPerToken(picoPerToken) };
}
