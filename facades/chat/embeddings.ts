import {
  type CreateEmbeddingRequest,
  type CreateEmbeddingResponse,
  type EmbeddingVector,
  EncodingFormat,
} from "#gen/tollgate/chat/v1/embedding_pb.js";
import type { EmbedRequest, EmbedResponse } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { usdAmount } from "../http/json/decimal.ts";

/** Translates an embedding request. */
export function embedRequest(
  { model, input }: CreateEmbeddingRequest,
  requestId: string,
  labels: EmbedRequest["labels"],
): EmbedRequest {
  const form = input?.form;
  return {
    $typeName: "tollgate.embeddings.v1.EmbedRequest",
    requestId,
    model,
    labels,
    inputs: form?.case === "texts" ? form.value.texts : [form?.value ?? ""],
  };
}

/** The vectors in the requested format, in input order. */
export function embeddingResponse(
  { model, encodingFormat }: CreateEmbeddingRequest,
  { vectors, inputTokens, costPicoUsd }: EmbedResponse,
): CreateEmbeddingResponse {
  const write = encodingFormat === EncodingFormat.BASE64 ? inBase64 : asNumbers;
  return {
    $typeName: "tollgate.chat.v1.CreateEmbeddingResponse",
    object: "list",
    model,
    data: vectors.map((vector, index) => ({
      $typeName: "tollgate.chat.v1.Embedding",
      object: "embedding",
      index,
      embedding: { $typeName: "tollgate.chat.v1.EmbeddingVector", form: write(vector) },
    })),
    usage: {
      $typeName: "tollgate.chat.v1.EmbeddingUsage",
      promptTokens: inputTokens,
      totalTokens: inputTokens,
      cost: usdAmount(costPicoUsd),
    },
  };
}

function inBase64({ buffer, byteOffset, byteLength }: Uint8Array): EmbeddingVector["form"] {
  return { case: "base64", value: Buffer.from(buffer, byteOffset, byteLength).toString("base64") };
}

/** Reads a vector's numbers from a copy, because received bytes need not be aligned for numbers of four bytes. */
function asNumbers(vector: Uint8Array): EmbeddingVector["form"] {
  const numbers = Array.from(new Float32Array(Uint8Array.from(vector).buffer));
  return { case: "numbers", value: { $typeName: "tollgate.chat.v1.EmbeddingNumbers", numbers } };
}
