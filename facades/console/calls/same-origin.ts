import type { IncomingMessage } from "node:http";
import type { Reach } from "../options.ts";
import { isPlain } from "../sessions/cookie.ts";

/**
 * Whether a request was made by a page of the console itself. Browsers say so in `Sec-Fetch-Site`, which no page can
 * forge; those that send none over plain HTTP name the page's origin in its place.
 */
export function isSameOrigin(request: IncomingMessage, reach: Reach): boolean {
  const { host = "", origin, "sec-fetch-site": site } = request.headers;
  if (site !== undefined) {
    return site === "same-origin";
  }
  if (!isPlain(request, reach)) {
    return false;
  }
  // A browser leaves the origin of a plain reading request of the same origin out.
  return origin === undefined ? request.method === "GET" : origin === `http://${host}`;
}
