import type { ContextValues } from "@connectrpc/connect";
import type { Random } from "#lib/ids/random.ts";
import { newRequestId } from "#lib/ids/request-id.ts";
import { requestIdKey } from "../grpc/call-id.ts";

/** The id of an account's metered request: the caller's own, what the door gave the call, or a new one. */
export function nameRequest(given: string, random: Random, values: ContextValues): string {
  const requestId = given || values.get(requestIdKey) || newRequestId(random);
  values.set(requestIdKey, requestId);
  return requestId;
}
