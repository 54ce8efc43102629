import type { ConnectError, Interceptor } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { Door } from "#lib/door/door.ts";
import { failure } from "#lib/errors/failure.ts";
import type { ServerTls } from "#lib/net/tls-identity.ts";
import type { Gate } from "./gate.ts";
import type { Receiving } from "./receiving.ts";
import type { ServiceRegistration } from "./registration.ts";

/** The services of a server and its address. */
export interface ServerOptions {
  /** `host:port`. Port 0 picks a free one. */
  readonly address: string;
  readonly services: readonly ServiceRegistration[];
  /** The first one is the outermost. */
  readonly interceptors: readonly Interceptor[];
  /** Default: no TLS. */
  readonly tls?: ServerTls | undefined;
  /** Judges each call before its message is read. Default: every call is admitted, and the interceptors judge it. */
  readonly gate?: Gate;
  /** Bounds the messages that are being received. The servers of a process share it. Default: one for this server. */
  readonly receiving?: Receiving;
  /** What its connections come through. Default: a door with the usual limits, which tells nobody of refusals. */
  readonly door?: Door;
}

/** A server that listens. */
export interface ListeningServer {
  /** `host:port`, with the port that was picked. */
  readonly address: string;
  /**
   * Takes no new calls and waits for the running ones. After `graceMs` the rest end with SHUTTING_DOWN; a second later
   * everything still open is cut off.
   */
  stop(graceMs: number): Promise<void>;
}

/** The steps of stopping, in order of increasing force. */
export interface Stopping {
  readonly graceMs: number;
  /** Takes no new calls. Calls `closed` when the running ones are done. */
  close(closed: () => void): void;
  /** Ends the running calls with this error. */
  endCalls(reason: ConnectError): void;
  /** Closes the connections of handlers that ignore the end. */
  cutOff(): void;
}

/** Milliseconds that ended calls have to leave before they are cut off. */
export const patienceMs = 1000;

/** Goes through the steps. Resolves as soon as everything is closed. */
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
