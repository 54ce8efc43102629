import type { ContextValues } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../lib/errors/failure.ts";
import type { Random } from "../../lib/ids/random.ts";
import { isRequestId, newRequestId } from "../../lib/ids/request-id.ts";
import { requestIdKey } from "./observe.ts";

/** Names a metered request: by the caller's own id, or a new one when that is empty. Throws INVALID_ARGUMENT. */
export function nameRequest(given: string, random: Random, values: ContextValues): string {
  if (given !== "" && !isRequestId(given)) {
    throw failure(Reason.INVALID_ARGUMENT, "request_id must be 1 to 64 letters, digits, dashes or underscores.", {
      parameter: "request_id",
    });
  }
  const requestId = given === "" ? newRequestId(random) : given;
  values.set(requestIdKey, requestId);
  return requestId;
}
