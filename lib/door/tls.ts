import type { SecureContextOptions, Server } from "node:tls";
import type { ServerTls, TlsIdentity } from "../net/tls-identity.ts";

/** Milliseconds that a client may take for the handshake. */
const handshakeTimeout = 10_000;

/** Options of a TLS server. "certified": clients must show a certificate of the authority, if there is one. */
export function tlsOptions({ current }: ServerTls, clients: "anybody" | "certified") {
  const isMutual = clients === "certified" && current.clientCa !== undefined;
  return { ...toSecureContext(current), requestCert: isMutual, rejectUnauthorized: isMutual, handshakeTimeout };
}

/** Gives a running server each new identity. Open connections keep theirs. */
export function keepRenewed(server: Server, tls: ServerTls): void {
  tls.onRenewed((identity) => server.setSecureContext(toSecureContext(identity)));
}

function toSecureContext({ cert, key, clientCa }: TlsIdentity): SecureContextOptions {
  return { cert, key, ...(clientCa === undefined ? {} : { ca: clientCa }) };
}
