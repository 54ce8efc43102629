import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

/** Whether an address is that of a proxy of our own, whose `x-forwarded-for` is trusted. */
export type IsTrustedProxy = (address: string) => boolean;

/** More proxies than anybody has in a row: a head of 32 KiB could name thousands. */
const mostProxies = 16;

/**
 * The address from which a request came: the other end of its connection or, when that is a trusted proxy, the last
 * untrusted address in `x-forwarded-for`. Addresses before that may be invented by the client.
 */
export function clientAddress(request: IncomingMessage, isTrustedProxy?: IsTrustedProxy): string | undefined {
  let address = request.socket.remoteAddress;
  if (isTrustedProxy === undefined || address === undefined) {
    return address;
  }
  const hops = String(request.headers["x-forwarded-for"] ?? "").split(",");
  for (const hop of hops.slice(-mostProxies).toReversed()) {
    const before = bare(hop.trim());
    if (!isTrustedProxy(address) || before === undefined) {
      break;
    }
    address = before;
  }
  return address;
}

/** An address without the port and the brackets that some proxies add. Undefined: it is not an address. */
function bare(hop: string): string | undefined {
  const [, address = hop] = /^\[([^\]]+)\](?::\d+)?$/.exec(hop) ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop) ?? [];
  return isIP(address) === 0 || address.includes("%") ? undefined : address;
}
