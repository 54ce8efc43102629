import type { IncomingMessage } from "node:http";
import { readKeyShard } from "../../../lib/ids/shard.ts";
import { clientAddressHeader, surfaceHeader } from "../../../lib/rpc/call-headers.ts";
import type { PublicSurface } from "../../../lib/surface-names.ts";

/** The headers of a call to the core: the credential, the client's address, and the surface of the HTTP request. */
export type CallHeaders = Readonly<Record<string, string>>;

/** A header that has a key. */
export type KeyHeader = "authorization" | "x-api-key";

/**
 * The key of a request as the core takes it. Every surface accepts both headers; where both are sent, `preferred` wins.
 * Without a key the core refuses the call, so that there is one place that does.
 */
export function callHeaders(
  request: IncomingMessage,
  address: string | undefined,
  preferred: KeyHeader,
  surface: PublicSurface | undefined,
): CallHeaders {
  const headers: Record<string, string> = {};
  const key =
    preferred === "x-api-key"
      ? (readApiKey(request) ?? readBearer(request))
      : (readBearer(request) ?? readApiKey(request));
  if (key !== undefined) {
    headers.authorization = `Bearer ${key}`;
  }
  if (surface !== undefined) {
    headers[surfaceHeader] = surface;
  }
  if (address !== undefined) {
    headers[clientAddressHeader] = address;
  }
  return headers;
}

/** The shard that the request's key names, so that the request's id names it, too. 0: the first one, or no key tells. */
export function readCallerShard({ headers }: IncomingMessage): number {
  const apiKey = headers["x-api-key"];
  return (typeof apiKey === "string" ? readKeyShard(apiKey) : 0) || readKeyShard(headers.authorization ?? "");
}

function readApiKey({ headers }: IncomingMessage): string | undefined {
  const apiKey = headers["x-api-key"];
  return typeof apiKey === "string" && apiKey.trim() !== "" ? printable(apiKey.trim()) : undefined;
}

function readBearer({ headers }: IncomingMessage): string | undefined {
  const bearer = /^Bearer +(.+)$/i.exec(headers.authorization ?? "")?.[1]?.trim();
  return bearer === undefined ? undefined : printable(bearer);
}

/** A key has printable ASCII alone; anything else could not travel in a header and is no key of ours. */
function printable(key: string): string {
  return key.replace(/[^!-~]/g, "?");
}
