import type { ContextValues } from "@connectrpc/connect";
import type { Random } from "../../lib/ids/random.ts";
import { newRequestId } from "../../lib/ids/request-id.ts";
import { requestIdKey } from "./observation/observe.ts";

/** Names a metered request: by the caller's own id, or a new one when that is empty. */
export function nameRequest(given: string, random: Random, values: ContextValues): string {
  const requestId = given === "" ? newRequestId(random) : given;
  values.set(requestIdKey, requestId);
  return requestId;
}
