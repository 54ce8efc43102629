import { toBinary } from "@bufbuild/protobuf";
import { type GenerateRequest, GenerateRequestSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { charactersPerToken, estimateTokens } from "#lib/text/estimate-tokens.ts";
import { maxRequestBytes } from "#src/wire/grpc/messages/limits.ts";
import { requestTooLarge } from "#src/wire/grpc/messages/too-large.ts";

/** The most UTF-8 bytes of one UTF-16 code unit. */
const mostBytes = 3;

/**
 * Bounds in-process requests to the size that a message may have on the wire, so that in-process and split deployments
 * answer alike. Throws REQUEST_TOO_LARGE. Only requests with more than a megabyte of text are measured exactly.
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
