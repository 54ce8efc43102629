import { type Model as CoreModel, ModelKind, ThinkingMode } from "#gen/tollgate/catalogue/v1/model_pb.js";
import type { Model } from "#gen/tollgate/chat/v1/model_pb.js";
import { samplingEntries } from "#lib/inference/sampling.ts";

type Listing = Pick<
  Model,
  | "huggingFaceId"
  | "description"
  | "inputModalities"
  | "outputModalities"
  | "supportedSamplingParameters"
  | "supportedFeatures"
  | "isReady"
  | "datacenters"
> &
  Partial<Pick<Model, "quantization" | "maxOutputLength" | "deprecationDate" | "openrouter">>;

/** The fields of OpenRouter's flat document for providers that a list of models does not have anyway. */
export function listingOf({ card, kind, maxOutputTokens, thinking }: CoreModel): Listing {
  const isEmbedding = kind === ModelKind.EMBEDDING;
  return {
    huggingFaceId: card?.huggingFaceId ?? "",
    description: card?.description ?? "",
    inputModalities: ["text"],
    outputModalities: [isEmbedding ? "embeddings" : "text"],
    ...(card?.quantization && { quantization: card.quantization }),
    ...(!isEmbedding && { maxOutputLength: maxOutputTokens }),
    supportedSamplingParameters: isEmbedding ? [] : samplingParameters,
    supportedFeatures: isEmbedding ? [] : featuresOf(thinking),
    ...(card?.deprecationDate && { deprecationDate: card.deprecationDate }),
    isReady: card?.isReady ?? true,
    ...(card?.openrouterSlug && {
      openrouter: { $typeName: "tollgate.chat.v1.OpenrouterModel", slug: card.openrouterSlug },
    }),
    datacenters: (card?.countries ?? []).map((countryCode) => ({
      $typeName: "tollgate.chat.v1.Datacenter",
      countryCode,
    })),
  };
}

const samplingParameters = [...samplingEntries.map(({ name }) => name), "max_tokens", "stop"].sort();

/** What a model can do, in OpenRouter's words. */
export function featuresOf(thinking: ThinkingMode): string[] {
  return thinking === ThinkingMode.NONE ? ["tools"] : ["tools", "reasoning"];
}
