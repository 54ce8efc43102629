import type { RefusedRequest } from "../model/store/request.ts";

/** The columns of a recorded request in the order of its values. */
export const requestColumns = [
  ...["request_id", "account_id", "key_id", "surface", "model", "reason", "http_status", "duration_ms", "server"],
  ...["left_out", "at"],
] as const;

export function requestValues(request: RefusedRequest) {
  const { requestId, accountId, keyId, surface, model, reason, httpStatus, durationMs, server, leftOut, at } = request;
  return [
    ...[requestId, accountId ?? null, keyId, surface, model, reason, httpStatus, durationMs, server, leftOut, at],
  ] as const;
}

/** How many old ones leave at most with each group: more than come, so that the record shrinks to its bounds. */
export const mostLeaving = (coming: number): number => 2 * coming + 1000;
