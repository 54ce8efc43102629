import type { IncomingMessage } from "node:http";
import { clientAddress, type IsTrustedProxy } from "./client-address.ts";

/** What a call to the core carries of the HTTP request: who pays and where the request came from. */
export type CallHeaders = Readonly<Record<string, string>>;

/**
 * The key of a request as the core takes it. Both surfaces accept both headers; `x-api-key` wins.
 * Without a key the core refuses the call, so that there is one place that does.
 */
export function callHeaders(request: IncomingMessage, isTrustedProxy?: IsTrustedProxy): CallHeaders {
  const headers: Record<string, string> = {};
  const key = keyOf(request);
  if (key !== undefined) headers.authorization = `Bearer ${key}`;
  const address = clientAddress(request, isTrustedProxy);
  if (address !== undefined) headers["x-tollgate-client-address"] = address;
  return headers;
}

/** Whether the headers are those of a messages-style client. */
export function isMessagesStyle(request: IncomingMessage): boolean {
  return request.headers["anthropic-version"] !== undefined || request.headers["x-api-key"] !== undefined;
}

function keyOf(request: IncomingMessage): string | undefined {
  const apiKey = request.headers["x-api-key"];
  if (typeof apiKey === "string" && apiKey.trim() !== "") return printable(apiKey.trim());
  const bearer = /^Bearer +(.+)$/i.exec(request.headers.authorization ?? "")?.[1]?.trim();
  return bearer === undefined ? undefined : printable(bearer);
}

/** A key has printable ASCII alone; anything else could not travel in a header and is no key of ours. */
function printable(key: string): string {
  return key.replace(/[^!-~]/g, "?");
}
