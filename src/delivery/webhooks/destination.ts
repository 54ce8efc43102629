import { isIP } from "node:net";
import { bareHost, isLoopback } from "#lib/net/address.ts";
import { inNetworks } from "#lib/net/networks.ts";

const longestUrl = 2048;
/** The networks of this machine itself. */
export const loopbackNetworks = ["127.0.0.0/8", "::1/128"] as const;
const isLoopbackAddress = inNetworks(loopbackNetworks);
/** Networks that are not the public internet, by IANA's registries of special-purpose addresses. */
const isSpecial4 = inNetworks([
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"],
  ...["192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
  ...["224.0.0.0/4", "240.0.0.0/4"],
]);
const isSpecial6 = inNetworks([
  // Everything but global unicast, and of that the blocks for IPv4 addresses or without a user.
  ...["::/3", "4000::/2", "8000::/1", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"],
]);

/** IPv4 addresses written as IPv6 ones are judged as IPv4, or are in no public network of IPv6. */
function isSpecial(address: string): boolean {
  return isIP(address.replace(/^::ffff:(?=\d+\.)/i, "")) === 6 ? isSpecial6(address) : isSpecial4(address);
}

/** An address that events may be sent to. */
export interface Destination {
  readonly url: URL;
  /** Whether an address that the host resolves to may be connected to. */
  permits(address: string): boolean;
}

/**
 * Reads the address of an endpoint. `allow` names private networks that may be reached. Returns a text when the address
 * is not allowed: the reason. The host's addresses are judged again for every connection, by the address it is made to.
 */
export function parseDestination(text: string, allow: readonly string[]): Destination | string {
  if (text.length > longestUrl || !URL.canParse(text)) {
    return `url must be a URL of ${longestUrl} characters at most, such as https://example.com/events.`;
  }
  const url = new URL(text);
  const host = bareHost(url.hostname);
  const isLocal = isLoopback(host);
  if (url.username !== "" || url.password !== "") {
    return "url must hold no user name and no password.";
  }
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal)) {
    return "url must begin with https://; http:// is for loopback addresses alone.";
  }
  const isAllowed = inNetworks(allow);
  // A name of this machine leads nowhere else, whatever a resolver says.
  const permits = (address: string) =>
    isLocal ? isLoopbackAddress(address) && isAllowed(address) : !isSpecial(address) || isAllowed(address);
  if (isIP(host) !== 0 && !permits(host)) {
    return notPublic(host);
  }
  if (isLocal && !["127.0.0.1", "::1"].some(permits)) {
    return notPublic(host);
  }
  return { url, permits };
}

function notPublic(host: string): string {
  return `${host} is no public address: name its network in webhooks.allow if events may be sent there.`;
}
