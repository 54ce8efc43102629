import { readFile } from "node:fs/promises";
import type { SecureContextOptions, Server } from "node:tls";
import * as grpc from "@grpc/grpc-js";
import type { ServerTls, TlsIdentity } from "../../../lib/net/tls-identity.ts";
import { ConfigError } from "../../config/config-error.ts";
import { createTlsCredentials } from "../client/tls-credentials.ts";

/** How long a client may take to agree on keys. */
const handshakeTimeout = 10_000;

/** Options of a TLS server: for anybody, or for clients that show a certificate of the authority, if there is one. */
export function tlsOptions({ current }: ServerTls, clients: "anybody" | "certified") {
  const isMutual = clients === "certified" && current.clientCa !== undefined;
  return { ...contextOf(current), requestCert: isMutual, rejectUnauthorized: isMutual, handshakeTimeout };
}

/** Gives a running server each new identity; connections that are open keep the one they have. */
export function keepRenewed(server: Server, tls: ServerTls): void {
  tls.onRenewed((identity) => server.setSecureContext(contextOf(identity)));
}

function contextOf({ cert, key, clientCa }: TlsIdentity): SecureContextOptions {
  return { cert, key, ...(clientCa === undefined ? {} : { ca: clientCa }) };
}

/** Files in PEM with which a client of the core checks the core and proves itself. */
export interface ClientTlsFiles {
  /** Signs the core's certificate. Undefined: no TLS. */
  readonly ca?: string;
  /** The client's own certificate, for a core that demands one. */
  readonly cert?: string;
  readonly certKey?: string;
}

/** Reads the files. Throws ConfigError. */
export async function readChannelCredentials({ ca, cert, certKey }: ClientTlsFiles): Promise<grpc.ChannelCredentials> {
  if ((cert === undefined) !== (certKey === undefined)) throw new ConfigError("--cert and --cert-key go together");
  if (ca === undefined) {
    if (cert !== undefined) throw new ConfigError("--cert and --cert-key need --ca");
    return grpc.credentials.createInsecure();
  }
  const [root, privateKey, chain] = await Promise.all([
    read("--ca", ca),
    read("--cert-key", certKey),
    read("--cert", cert),
  ]);
  try {
    return createTlsCredentials(root, privateKey, chain);
  } catch (error) {
    const files = [ca, cert, certKey].filter((file) => file !== undefined).join(", ");
    throw new ConfigError(`${files} cannot be used: ${error instanceof Error ? error.message : error}`);
  }
}

async function read(option: string, file: string | undefined): Promise<Buffer | null> {
  if (file === undefined) return null;
  try {
    return await readFile(file);
  } catch (error) {
    throw new ConfigError(`${option}: ${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? error}`);
  }
}
