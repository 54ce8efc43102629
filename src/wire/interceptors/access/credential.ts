import type { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";

const cookie = /^tgco_/;

/**
 * The credential of a call: a bearer, or the cookie of a session, which consoles send under a scheme of its own. Browsers
 * hand a cookie to every port of a host, so it is no bearer anywhere. Throws UNAUTHENTICATED.
 */
export function readCredential(header: Headers): string {
  const [, scheme = "", credential = ""] = /^(Bearer|Session) +(\S+) *$/i.exec(header.get("authorization") ?? "") ?? [];
  if (credential === "") {
    throw refused("No API key. Send `Authorization: Bearer tg-…`.");
  }
  if (cookie.test(credential) !== (scheme.toLowerCase() === "session")) {
    throw refused(
      "The console's cookie is for the console alone. Send an API key or a token: `Authorization: Bearer tg-…`.",
    );
  }
  return credential;
}

function refused(message: string): ConnectError {
  return failure(Reason.UNAUTHENTICATED, message, { parameter: "authorization" });
}
