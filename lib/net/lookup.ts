import { lookup } from "node:dns/promises";

/** The addresses of a host, in any order. Rejects when they cannot be found out. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/**
 * As every program of this machine finds them: the hosts file, search domains, DNS. A host with addresses of
 * both kinds is one host, so that those of IPv6 count only where there are no others.
 */
export const systemLookup: Lookup = async (host) => {
  const found = await lookup(host, { all: true });
  const ofFour = found.filter(({ family }) => family === 4);
  return (ofFour.length > 0 ? ofFour : found).map(({ address }) => address);
};
