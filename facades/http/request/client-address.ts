import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

/** Tells whether an address is that of a proxy of our own, whose `x-forwarded-for` is believed. */
export type IsTrustedProxy = (address: string) => boolean;

/** Nobody has more proxies in a row; a head of 32 KiB could name thousands. */
const mostProxies = 16;

/**
 * Where a request came from: the other end of its connection, or, when that is a proxy that is trusted, the last
 * address in `x-forwarded-for` that is not one. Addresses before it may be the client's invention.
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

/** An address without the port and the brackets that some proxies add. Undefined: it is none. */
function bare(hop: string): string | undefined {
  const [, address = hop] = /^\[([^\]]+)\](?::\d+)?$/.exec(hop) ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop) ?? [];
  return isIP(address) === 0 || address.includes("%") ? undefined : address;
}
