import { BlockList, isIP } from "node:net";

/** Addresses whose first bits are the same. */
export interface Network {
  readonly address: string;
  readonly prefix: number;
  readonly family: "ipv4" | "ipv6";
}

/** Reads "10.0.0.0/8", "2001:db8::/32", or one address, such as "10.0.0.5". Undefined: it is neither. */
export function parseNetwork(text: string): Network | undefined {
  const [, address = "", bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  if (version === 0) {
    return undefined;
  }
  const most = version === 4 ? 32 : 128;
  const prefix = bits === undefined ? most : Number(bits);
  return prefix > most ? undefined : { address, prefix, family: version === 4 ? "ipv4" : "ipv6" };
}

/**
 * Returns a function that tells whether an address is in one of the networks, given as in the configuration. A text
 * that is no address is in no network.
 */
export function inNetworks(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const text of networks) {
    const network = parseNetwork(text);
    if (network !== undefined) {
      list.addSubnet(network.address, network.prefix, network.family);
    }
  }
  return (address) => {
    // Without the mark of IPv4 on an IPv6 socket, and without an interface's name.
    const [plain = ""] = address.replace(/^::ffff:(?=\d+\.)/i, "").split("%", 1);
    const version = isIP(plain);
    return version !== 0 && list.check(plain, version === 4 ? "ipv4" : "ipv6");
  };
}
