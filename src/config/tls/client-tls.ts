import type { ClientTls } from "#lib/net/tls-identity.ts";
import { ConfigError } from "../config-error.ts";
import { readPem, verifyUsable } from "./read-pem.ts";

/** Files in PEM with which a client of the core verifies the core and identifies itself. */
export interface ClientTlsFiles {
  /** Signs the core's certificate. Undefined: no TLS. */
  readonly ca?: string;
  /** The client's own certificate, for a core that demands one. */
  readonly cert?: string;
  readonly certKey?: string;
}

/** Reads the files. Undefined: no TLS. Throws ConfigError. */
export async function readClientTls({ ca, cert, certKey }: ClientTlsFiles): Promise<ClientTls | undefined> {
  if ((cert === undefined) !== (certKey === undefined)) {
    throw new ConfigError("--cert and --cert-key go together");
  }
  if (ca === undefined) {
    if (cert !== undefined) {
      throw new ConfigError("--cert and --cert-key need --ca");
    }
    return undefined;
  }
  const identity = {
    ca: await readPem("--ca", ca),
    ...(cert !== undefined && { cert: await readPem("--cert", cert) }),
    ...(certKey !== undefined && { key: await readPem("--cert-key", certKey) }),
  };
  const files = [ca, cert, certKey].filter((file) => file !== undefined).join(", ");
  verifyUsable(`${files} cannot be used`, identity);
  return identity;
}
