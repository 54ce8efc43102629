import type { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { CallHead } from "../../grpc/server/gate.ts";
import { peerKey } from "../../grpc/server/peer.ts";
import type { TrustsPeer } from "./client-address.ts";

/**
 * The credential of a call. Browsers hand the cookie of a session to every port of a host, so it is no bearer anywhere: the
 * console alone sends it, under a scheme of its own, which is taken from this process and from trusted facades. Throws
 * UNAUTHENTICATED.
 */
export function readCredential({ header, contextValues }: Omit<CallHead, "method">, trusts: TrustsPeer): string {
  const [, scheme = "", credential = ""] = /^(Bearer|Session) +(\S+) *$/i.exec(header.get("authorization") ?? "") ?? [];
  if (credential === "") {
    throw refused("No API key. Send `Authorization: Bearer tg-…`.");
  }
  const peer = contextValues.get(peerKey);
  const isSession = credential.startsWith("tgse_");
  if (isSession !== (scheme.toLowerCase() === "session")) {
    throw refused("A session is for the console alone. Send an API key or a token: `Authorization: Bearer tg-…`.");
  }
  if (isSession && peer !== undefined && !trusts(peer)) {
    throw refused("Sessions are taken from trusted facades alone (listen.trusted_facades).");
  }
  return credential;
}

function refused(message: string): ConnectError {
  return failure(Reason.UNAUTHENTICATED, message, { parameter: "authorization" });
}
