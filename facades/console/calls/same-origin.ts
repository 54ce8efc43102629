import type { IncomingMessage } from "node:http";
import type { Reach } from "../dependencies.ts";
import { isPlain } from "../sessions/cookie.ts";

/**
 * Whether a page of the console itself made a request. Browsers say so in `Sec-Fetch-Site`, which no page can forge.
 * Browsers that do not send it over plain HTTP send the page's origin instead.
 */
export function isSameOrigin(request: IncomingMessage, reach: Reach): boolean {
  const { host = "", origin, "sec-fetch-site": site } = request.headers;
  if (site !== undefined) {
    return site === "same-origin";
  }
  if (!isPlain(request, reach)) {
    return false;
  }
  // Browsers omit the origin of a plain GET request from the same origin.
  return origin === undefined ? request.method === "GET" : origin === `http://${host}`;
}
