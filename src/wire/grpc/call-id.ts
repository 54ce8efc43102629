import { type ContextValues, createContextKey, type Interceptor } from "@connectrpc/connect";
import { systemRandom } from "#lib/ids/random.ts";
import { isRequestId, newRequestId } from "#lib/ids/request-id.ts";
import { requestIdHeader } from "#lib/rpc/call-headers.ts";

/** The id of the request: its caller's, or what the door gave the call. Empty: the call comes from this process, and has none. */
export const requestIdKey = createContextKey("", { description: "request id" });

/** Whether the interceptors hear of the call. A door tells them itself of what it refuses before. */
export const heardKey = createContextKey(false, { description: "heard" });

/** Notes that they do. */
export const hearCall: Interceptor = (next) => (request) => {
  request.contextValues.set(heardKey, true);
  return next(request);
};

/**
 * Gives a call its id, and returns it: the one that it came with, or a new one, so that whoever is refused, however early,
 * can ask why.
 */
export function nameCall(header: Headers, values: ContextValues): string {
  const id = readNamed(header) || newRequestId(systemRandom);
  values.set(requestIdKey, id);
  return id;
}

/** The id that a facade or the caller gave a call. Empty: none, or nothing like an id. */
export function readNamed(header: Headers): string {
  const given = header.get(requestIdHeader);
  return isRequestId(given) ? given : "";
}
