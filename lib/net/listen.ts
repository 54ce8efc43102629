import type { AddressInfo, Server } from "node:net";
import { parseAddress } from "./address.ts";

/**
 * Connections that the system holds until they are accepted, where it allows so many. With Node's 511 a burst lost some,
 * and a lost one is tried again only after 1, 3, 7 seconds.
 */
const backlog = 4096;

/**
 * Listens, and resolves with the address including its actual port. Rejects with an error that says what to do;
 * `setting` names the field of the configuration that has the address. With `reusePort`, other processes of the same
 * user may listen there, too, if they all say so.
 */
export function listen(server: Server, address: string, setting: string, reusePort = false): Promise<string> {
  const at = parseAddress(address);
  if (!at) {
    throw new Error(`${setting} must be an address such as 127.0.0.1:50051, not ${address}.`);
  }
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => reject(toListenError(error, address, setting));
    server.once("error", refuse);
    server.listen({ ...at, reusePort, backlog }, () => {
      server.off("error", refuse);
      resolve(address.replace(/(?<!\d)\d+$/, String((server.address() as AddressInfo).port)));
    });
  });
}

/** What to do about an address that cannot be listened on. */
export function toListenError(error: NodeJS.ErrnoException, address: string, setting: string): Error {
  return new Error(`Cannot listen on ${address}: ${explain(error, setting)}`, { cause: error });
}

function explain({ code, message }: NodeJS.ErrnoException, setting: string): string {
  switch (code) {
    case "EADDRINUSE":
      return `another process already does. Stop that process, or set ${setting} to another address.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `this machine has no such address. Set ${setting} to one that it has.`;
    case "ENOTSUP":
      return "this system has no ports that processes share. Leave listen.reuse_port out.";
    case "EACCES":
      return `this user may not. Set ${setting} to a port above 1023, or start with such a --port.`;
    default:
      return message;
  }
}
