/** The network of one subscriber: an IPv4 address, or the /64 around an IPv6 one. */
export function toNetwork(address: string): string {
  if (!address.includes(":")) {
    return address;
  }
  const [, ipv4] = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (ipv4 !== undefined) {
    return ipv4;
  }
  const [before = [], after = []] = address.split("::", 2).map((half) => half.split(":").filter(Boolean));
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  return [...before, ...zeros, ...after].slice(0, 4).map(plain).join(":");
}

/** The network around a subscriber's, of which one customer of a provider may have all: a /24 of IPv4, a /56 of IPv6. */
export function toWiderNetwork(address: string): string {
  const network = toNetwork(address);
  if (!network.includes(":")) {
    return network.split(".", 3).join(".");
  }
  const parts = network.split(":");
  return `${parts.slice(0, 3).join(":")}:${(parts[3] ?? "").padStart(4, "0").slice(0, 2)}`;
}

/** The network of which one customer of a provider may have all, and nobody else any: an IPv4 address, a /56 of IPv6. */
export function toCustomerNetwork(address: string): string {
  const network = toNetwork(address);
  return network.includes(":") ? toWiderNetwork(address) : network;
}

/** Whether a network is this machine as it usually names itself: a proxy may run here, whose clients all come from there. */
export function isThisMachine(network: string): boolean {
  return network === "127.0.0.1" || network === "0:0:0:0"; // ::1
}

/** A part of an IPv6 address as every writer would write it. */
function plain(part: string): string {
  return /^[0-9a-f]{1,4}$/i.test(part) ? Number.parseInt(part, 16).toString(16) : part;
}
