import type { AddressInfo, Server } from "node:net";
import type { ConnectError, Interceptor } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import { parseAddress } from "../../../lib/net/address.ts";
import type { ServerTls } from "../../config/tls.ts";
import type { ServiceRegistration } from "./registration.ts";

/** What a server serves and where. */
export interface ServerOptions {
  /** `host:port`; port 0 picks a free one. */
  readonly address: string;
  readonly services: readonly ServiceRegistration[];
  /** The first one is the outermost. */
  readonly interceptors: readonly Interceptor[];
  /** Default: no TLS. */
  readonly tls?: ServerTls | undefined;
}

/** A server that listens. */
export interface ListeningServer {
  /** `host:port`, with the port that was picked. */
  readonly address: string;
  /**
   * Takes no new calls and waits for those under way. After `graceMs` the rest are told to end with
   * SHUTTING_DOWN, and a second later what is still open is cut off.
   */
  stop(graceMs: number): Promise<void>;
}

/**
 * Listens and resolves with the address, its port filled in. Rejects with an error that says what to
 * do; `setting` names the field of the configuration that has the address.
 */
export function listen(server: Server, address: string, setting: string): Promise<string> {
  const at = parseAddress(address);
  if (!at) throw new Error(`${setting} must be an address such as 127.0.0.1:50051, not ${address}.`);
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) =>
      reject(new Error(`Cannot listen on ${address}: ${explain(error, setting)}`, { cause: error }));
    server.once("error", refuse);
    server.listen(at.port, at.host, () => {
      server.off("error", refuse);
      resolve(address.replace(/\d+$/, String((server.address() as AddressInfo).port)));
    });
  });
}

function explain({ code, message }: NodeJS.ErrnoException, setting: string): string {
  switch (code) {
    case "EADDRINUSE":
      return `another process already does. Stop that process, or set ${setting} to another address.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `this machine has no such address. Set ${setting} to one that it has.`;
    case "EACCES":
      return `this user may not. Set ${setting} to a port above 1023.`;
    default:
      return message;
  }
}

/** The steps of stopping, each harder than the one before. */
export interface Stopping {
  readonly graceMs: number;
  /** Takes no new calls; calls back when those under way are done. */
  close(closed: () => void): void;
  /** Ends the calls under way with this error. */
  endCalls(reason: ConnectError): void;
  /** Closes the connections of handlers that do not listen. */
  cutOff(): void;
}

const patienceMs = 1000;

/** Goes through the steps; resolves as soon as all is closed. */
export function stopGently({ graceMs, close, endCalls, cutOff }: Stopping): Promise<void> {
  return new Promise((resolve) => {
    const grace = setTimeout(() => endCalls(failure(Reason.SHUTTING_DOWN, "The service is shutting down.")), graceMs);
    const patience = setTimeout(cutOff, graceMs + patienceMs);
    close(() => {
      clearTimeout(grace);
      clearTimeout(patience);
      resolve();
    });
  });
}
