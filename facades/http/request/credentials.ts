import type { IncomingMessage } from "node:http";
import type { PublicSurface } from "#lib/inference/surface-names.ts";
import { clientAddressHeader, surfaceHeader } from "#lib/rpc/call-headers.ts";

/** The headers of a call to the core: the credential, the client's address, and the surface of the HTTP request. */
export type CallHeaders = Readonly<Record<string, string>>;

/** A header that may carry a key. */
export type KeyHeader = "authorization" | "x-api-key";

/**
 * The call's headers for a request. Every surface accepts a key in both headers; where both are sent, `preferred` wins.
 * A request without a key goes to the core, too, so that only the core refuses it.
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

function readApiKey({ headers }: IncomingMessage): string | undefined {
  const apiKey = headers["x-api-key"];
  return typeof apiKey === "string" && apiKey.trim() !== "" ? printable(apiKey.trim()) : undefined;
}

function readBearer({ headers }: IncomingMessage): string | undefined {
  const [, bearer = ""] = /^Bearer (.*)$/i.exec(headers.authorization ?? "") ?? [];
  return bearer.trim() === "" ? undefined : printable(bearer.trim());
}

/**
 * Replaces everything but printable ASCII: other characters could not be sent in a header and are in no key of ours.
 */
function printable(key: string): string {
  return key.replace(/[^!-~]/g, "?");
}
