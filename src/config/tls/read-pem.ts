import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { ConfigError } from "../config-error.ts";

/** Reads a file in PEM. `setting`: the field or option that names it. Throws ConfigError. */
export async function readPem(setting: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new ConfigError(`${setting}: ${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? error}`);
  }
}

/** Throws ConfigError, beginning with the given name, when OpenSSL cannot use the certificates and the key. */
export function verifyUsable(named: string, identity: SecureContextOptions): void {
  try {
    createSecureContext(identity);
  } catch (error) {
    throw new ConfigError(`${named}: ${error instanceof Error ? error.message : error}`);
  }
}
