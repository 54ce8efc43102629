import { toBinary } from "@bufbuild/protobuf";
import { type GenerateRequest, GenerateRequestSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { charactersPerToken, estimateTokens } from "../../../lib/text/estimate-tokens.ts";
import { maxRequestBytes } from "../../grpc/wire/limits.ts";
import { requestTooLarge } from "../../grpc/wire/too-large.ts";

/** A character has so many bytes in UTF-8 at most. */
const mostBytes = 3;

/**
 * Holds requests that come in this process to the size that a message may have on a wire, so that all in one process and
 * apart answer alike. Throws REQUEST_TOO_LARGE. Only those with more than a megabyte of text are measured exactly.
 */
export function requireSize(request: GenerateRequest): void {
  const { prompt } = request;
  if (prompt.case !== "conversation") {
    return; // texts do not grow in translation: their surfaces bound them
  }
  if (estimateTokens(prompt) * charactersPerToken * mostBytes <= maxRequestBytes) {
    return;
  }
  const { length } = toBinary(GenerateRequestSchema, request);
  if (length > maxRequestBytes) {
    throw requestTooLarge(length);
  }
}
