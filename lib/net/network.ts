/** The network of one subscriber: an IPv4 address, or the /64 around an IPv6 one. */
export function toNetwork(address: string): string {
  if (!address.includes(":")) {
    return address;
  }
  const [, ipv4] = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (ipv4 !== undefined) {
    return ipv4;
  }
  const [before = [], after = []] = address.split("::").map((half) => half.split(":").filter(Boolean));
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  return [...before, ...zeros, ...after].slice(0, 4).join(":");
}
