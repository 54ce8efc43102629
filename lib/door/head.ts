import type { IncomingMessage } from "node:http";

/** Why bytes are not a request. */
export interface Fault {
  readonly status: 400 | 408 | 413 | 417 | 431;
  readonly message: string;
}

/**
 * What is wrong with a request's head that Node.js accepts but another server, before or behind this one, could read
 * differently. Undefined: nothing.
 */
export function findHeadFault({ headers, rawHeaders, httpVersion }: IncomingMessage): Fault | undefined {
  if (headers.host === undefined && httpVersion !== "1.0") {
    return { status: 400, message: "The header host is missing." };
  }
  if (countHosts(rawHeaders) > 1) {
    return { status: 400, message: "The header host is there twice." };
  }
  const encoding = headers["transfer-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "chunked") {
    return { status: 400, message: `The transfer encoding ${encoding} is not supported; only chunked is.` };
  }
  if (encoding !== undefined && httpVersion === "1.0") {
    return { status: 400, message: "HTTP/1.0 has no transfer encodings." };
  }
  const { expect } = headers;
  if (expect !== undefined && expect.toLowerCase() !== "100-continue") {
    return { status: 417, message: "Only 100-continue can be expected." };
  }
  return undefined;
}

/** The text of a head, as it came. */
export function headText({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  }
  return lines.join("\r\n");
}

/** Whether a request has a body, received or not. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
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
