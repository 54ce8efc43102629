import { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail, readTokenBound } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import type { ServedModel } from "#src/fleet/catalogue/interface.ts";
import type { FleetRequest } from "#src/fleet/interface.ts";

/**
 * Completes a refusal for the prompt's length with the field and the limit: not every engine reports them, and clients
 * shorten the conversation by them. Other errors stay as they are.
 */
export function contextRefusal(error: unknown, model: ServedModel, prompt: FleetRequest["prompt"]): unknown {
  const detail = readDetail(error);
  if (detail?.reason !== Reason.CONTEXT_LENGTH_EXCEEDED || !(error instanceof ConnectError)) {
    return error;
  }
  const told = readTokenBound(detail);
  const { limit = BigInt(model.context_length), actual, requestedOutput, estimated = false } = told;
  const message =
    told.limit === undefined ? `This model's maximum context length is ${limit} tokens.` : error.rawMessage;
  const value = {
    limit,
    estimated,
    ...(actual !== undefined && { actual }),
    ...(requestedOutput !== undefined && { requestedOutput }),
  };
  const facts = { bound: { case: "tokens", value } as const, parameter: prompt.case };
  return failure(detail.reason, message, facts, error.cause);
}
