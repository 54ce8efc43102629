import type { Logger } from "#lib/logger.ts";
import type { ServerTls, TlsIdentity } from "#lib/net/tls-identity.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Config } from "../schema.ts";
import { readPem, verifyUsable } from "./read-pem.ts";

/** The section listen.tls: files in PEM. */
export type TlsFiles = NonNullable<Config["listen"]["tls"]>;

/** Reads the files. Throws ConfigError when one cannot be read or they do not fit together. */
export async function readTls({ cert, key, client_ca }: TlsFiles): Promise<TlsIdentity> {
  const identity = {
    cert: await readPem("listen.tls.cert", cert),
    key: await readPem("listen.tls.key", key),
    ...(client_ca === undefined ? {} : { clientCa: await readPem("listen.tls.client_ca", client_ca) }),
  };
  const { clientCa: ca, ...own } = identity;
  verifyUsable(`listen.tls: ${cert} and ${key} cannot be used together`, { ...own, ...(ca && { ca }) });
  return identity;
}

const renewalCheckMs = 60_000;

/**
 * Reads the files and checks once a minute whether they were renewed without a restart, as short-lived certificates
 * are. If the new files are wrong that is logged, and the identity stays. Undefined: no TLS. Throws ConfigError.
 */
export async function openTls(
  files: TlsFiles | undefined,
  clock: Clock,
  logger: Logger,
): Promise<ServerTls | undefined> {
  if (files === undefined) {
    return undefined;
  }
  let current = await readTls(files);
  const listeners: ((identity: TlsIdentity) => void)[] = [];
  const look = async () => {
    try {
      const found = await readTls(files);
      if (isSame(found, current)) {
        return;
      }
      current = found;
      for (const listener of listeners) {
        listener(found);
      }
      logger.info({ cert: files.cert }, "certificate renewed");
    } catch (error) {
      logger.error({ err: error }, "the renewed certificate cannot be used; the one before stays");
    }
  };
  const lookLater = () => void clock.after(renewalCheckMs, () => void look().then(lookLater));
  lookLater();
  return {
    get current() {
      return current;
    },
    onRenewed: (listener) => void listeners.push(listener),
  };
}

function isSame(one: TlsIdentity, other: TlsIdentity): boolean {
  const same = (a: Buffer | undefined, b: Buffer | undefined) => (a && b ? a.equals(b) : a === b);
  return one.cert.equals(other.cert) && one.key.equals(other.key) && same(one.clientCa, other.clientCa);
}
