import { isIP } from "node:net";
import { bareHost, isLoopback } from "#lib/net/address.ts";

/** The site that passkeys are made for. */
export interface RelyingParty {
  /** The host of its pages. */
  readonly id: string;
  /** Whether a browser's page is one of its own. */
  isOrigin(origin: string): boolean;
}

/**
 * The site at an address. Browsers make passkeys for names alone, over https or on this machine, which is then
 * "localhost". A port of 0 stands for any. Undefined: there are none for this address.
 */
export function toRelyingParty(address: string): RelyingParty | undefined {
  const url = URL.parse(address);
  const host = bareHost(url?.hostname ?? "");
  const isNear = isLoopback(host);
  if (url === null || !(url.protocol === "https:" || isNear) || (isIP(host) !== 0 && !isNear)) {
    return undefined;
  }
  const id = isNear ? "localhost" : host;
  const whole = `${url.protocol}//${id}`;
  const own = url.port === "" ? whole : `${whole}:${url.port}`;
  const isOrigin = (origin: string) =>
    url.port === "0" ? new RegExp(`^${whole.replaceAll(".", "\\.")}:\\d+$`).test(origin) : origin === own;
  return { id, isOrigin };
}
