import type { IncomingMessage, ServerResponse } from "node:http";
import { RequestError } from "../request/error.ts";

/**
 * Checks a request's head for faults that Node.js accepts but another server, before or behind this one, could read
 * differently. Throws RequestError, after which the connection closes.
 */
export function checkHead(request: IncomingMessage, response: ServerResponse): void {
  const error = wrongHead(request);
  if (error === undefined) {
    return;
  }
  response.shouldKeepAlive = false;
  throw error;
}

function wrongHead({ headers, rawHeaders, httpVersion }: IncomingMessage): RequestError | undefined {
  if (headers.host === undefined && httpVersion !== "1.0") {
    return new RequestError(400, "The header host is missing.");
  }
  if (countHosts(rawHeaders) > 1) {
    return new RequestError(400, "The header host is there twice.");
  }
  const encoding = headers["transfer-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "chunked") {
    return new RequestError(400, `The transfer encoding ${encoding} is not supported; only chunked is.`);
  }
  if (encoding !== undefined && httpVersion === "1.0") {
    return new RequestError(400, "HTTP/1.0 has no transfer encodings.");
  }
  const { expect } = headers;
  if (expect !== undefined && expect.toLowerCase() !== "100-continue") {
    return new RequestError(417, "Only 100-continue can be expected.");
  }
  return undefined;
}

/** Counts the Host headers. Node.js keeps only the first one in its headers. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === "host") {
      count++;
    }
  }
  return count;
}
