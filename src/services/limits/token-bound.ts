import type { Message } from "@bufbuild/protobuf";
import { isMessage } from "@bufbuild/protobuf";
import { EmbedRequestSchema } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { type GenerateRequest, GenerateRequestSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { estimateTokens } from "#lib/text/estimate-tokens.ts";

/**
 * Output tokens that are assumed for an answer whose request sets no maximum, and the most that are assumed for any.
 */
const usualOutput = 1024;
const mostOutput = 4096;

/** Estimates the tokens of a request, for limits of tokens a minute: its prompt and the output that it asks for. */
export function readTokenBound(message: Message): number {
  if (isMessage(message, GenerateRequestSchema)) {
    return generationBound(message);
  }
  return isMessage(message, EmbedRequestSchema) ? textTokens(message.inputs) : 1;
}

function generationBound({ prompt, maxOutputTokens }: GenerateRequest): number {
  const output = Math.min(maxOutputTokens ?? usualOutput, mostOutput);
  switch (prompt.case) {
    case "texts":
      return textTokens(prompt.value.texts) + prompt.value.texts.length * output;
    case undefined:
      return output;
    default:
      return estimateTokens(prompt) + output;
  }
}

function textTokens(texts: readonly string[]): number {
  return texts.reduce((sum, value) => sum + estimateTokens({ case: "text", value }), 0);
}
