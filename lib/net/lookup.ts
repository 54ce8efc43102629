import { lookup } from "node:dns/promises";

/** The addresses of a host, in any order. Rejects when they cannot be found. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/**
 * Looks up as every program of this machine does: hosts file, search domains, DNS. A host with addresses of both kinds
 * is one host, so IPv6 addresses count only when there are no IPv4 ones.
 */
export const systemLookup: Lookup = async (host) => {
  const found = await lookup(host, { all: true });
  const ofFour = found.filter(({ family }) => family === 4);
  return (ofFour.length > 0 ? ofFour : found).map(({ address }) => address);
};
