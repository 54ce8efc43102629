import { connect as connectPlain, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { bareHost } from "#lib/net/address.ts";
import type { Clock } from "#lib/time/clock.ts";
import { HttpFault } from "./interface.ts";

/**
 * One buffer that all plain sockets read into: a buffer for each read, and the stream between socket and reader, would
 * cost as much as extracting a token. So code that keeps bytes from a socket must copy them.
 */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/** Where and how to connect. */
export interface ConnectOptions {
  readonly clock: Pick<Clock, "monotonic" | "after">;
  readonly connectTimeoutMs: number;
  /** The address to connect to, instead of looking the host up. TLS and the Host header keep the name. */
  readonly address?: string;
}

/** Receives the result of an attempt: exactly one of both calls, and never before `open` returns. */
export interface ConnectResult {
  onConnected(socket: Socket): void;
  onFailed(error: Error): void;
}

/** Opens sockets to one origin, with TLS where its scheme is https. */
export class Connector {
  readonly #url: URL;
  readonly #options: ConnectOptions;
  /** The last TLS session. It shortens the next handshake. */
  #session: Buffer | undefined;

  constructor(origin: string, options: ConnectOptions) {
    this.#url = new URL(origin);
    this.#options = options;
  }

  /** Starts an attempt. Destroying the socket ends it without a result. */
  open({ onConnected, onFailed }: ConnectResult): Socket {
    const isTls = this.#url.protocol === "https:";
    const socket = isTls ? this.#openTls() : this.#openPlain();
    const { clock, connectTimeoutMs } = this.#options;
    const stopWaiting = clock.after(connectTimeoutMs, () => {
      socket.destroy(new HttpFault("CONNECT_TIMEOUT", "no connection in time"));
    });
    const fail = (error: Error) => onFailed(error);
    socket.once("error", fail);
    socket.once("close", stopWaiting);
    socket.once(isTls ? "secureConnect" : "connect", () => {
      stopWaiting();
      socket.off("error", fail);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, 60_000);
      onConnected(socket);
    });
    return socket;
  }

  #openPlain(): Socket {
    const callback = (length: number, bytes: Uint8Array) => {
      socket.emit("data", bytes.subarray(0, length));
      return true;
    };
    const socket = connectPlain({ ...this.#target(80), onread: { buffer: readBuffer, callback } });
    return socket;
  }

  #openTls(): Socket {
    const { hostname } = this.#url;
    const socket = connectTls({
      ...this.#target(443),
      ...(isIP(bareHost(hostname)) === 0 && { servername: hostname }),
      ...(this.#session && { session: this.#session }),
      ALPNProtocols: ["http/1.1"],
    });
    return socket.on("session", (session: Buffer) => {
      this.#session = session;
    });
  }

  #target(usualPort: number) {
    const { address } = this.#options;
    return {
      host: bareHost(this.#url.hostname),
      port: Number(this.#url.port) || usualPort,
      ...(address !== undefined && { lookup: lookupAs(address) }),
    };
  }
}

/** A lookup that always finds this address. */
function lookupAs(address: string): LookupFunction {
  const family = isIP(address);
  return (_, { all }, found) => (all ? found(null, [{ address, family }]) : found(null, address, family));
}
