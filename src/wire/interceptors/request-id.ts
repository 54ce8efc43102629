import type { ContextValues } from "@connectrpc/connect";
import type { Random } from "#lib/ids/random.ts";
import { newRequestId } from "#lib/ids/request-id.ts";
import { requestIdKey } from "./observation/observe.ts";

/** The id of an account's metered request: the caller's own, or a new one when that is empty. */
export function nameRequest(given: string, random: Random, values: ContextValues): string {
  const requestId = given === "" ? newRequestId(random) : given;
  values.set(requestIdKey, requestId);
  return requestId;
}
