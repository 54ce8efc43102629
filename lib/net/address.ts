import { isIP } from "node:net";

/** An address to listen on. */
export interface Address {
  readonly host: string;
  /** 0: the system picks a free port. */
  readonly port: number;
}

/** Reads "127.0.0.1:8080" or "[::1]:8080". Undefined: it is neither. */
export function parseAddress(text: string): Address | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
  if (!match) {
    return undefined;
  }
  const host = match[1] ?? match[2] ?? "";
  const port = Number(match[3]);
  if (port > 65535 || (match[1] !== undefined && isIP(host) !== 6)) {
    return undefined;
  }
  return { host, port };
}

/** A host as a URL has it, without the brackets of an IPv6 address. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** Whether only this machine can reach the host. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** The address, or URL, at which this machine reaches a listener: "all addresses" becomes loopback. */
export function reachable(address: string): string {
  return address.replace(/(^|\/\/)0\.0\.0\.0:/, "$1127.0.0.1:").replace(/(^|\/\/)\[::\]:/, "$1[::1]:");
}
