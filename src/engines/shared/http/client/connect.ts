import { connect as connectPlain, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { HttpFault } from "./interface.ts";

/** Where and how to connect. */
export interface ConnectOptions {
  readonly connectTimeoutMs: number;
  /** Where to connect instead of looking the host up; TLS and the Host header keep the name. */
  readonly address?: string;
}

/** Learns how an attempt ended; exactly one of both, and never before `openSocket` returns. */
export interface ConnectResult {
  onConnected(socket: Socket): void;
  onFailed(error: Error): void;
}

/** Opens sockets to one origin, TLS where its scheme is https. */
export class Connector {
  readonly #url: URL;
  readonly #options: ConnectOptions;
  /** The last TLS session, so that the next handshake is short. */
  #session: Buffer | undefined;

  constructor(origin: string, options: ConnectOptions) {
    this.#url = new URL(origin);
    this.#options = options;
  }

  /** Starts an attempt. Destroying the socket ends it without a result. */
  open({ onConnected, onFailed }: ConnectResult): Socket {
    const isTls = this.#url.protocol === "https:";
    const socket = isTls ? this.#openTls() : connectPlain(this.#target(80));
    const timer = setTimeout(() => {
      socket.destroy(new HttpFault("CONNECT_TIMEOUT", "no connection in time"));
    }, this.#options.connectTimeoutMs);
    const fail = (error: Error) => onFailed(error);
    socket.once("error", fail);
    socket.once("close", () => clearTimeout(timer));
    socket.once(isTls ? "secureConnect" : "connect", () => {
      clearTimeout(timer);
      socket.off("error", fail);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, 60_000);
      onConnected(socket);
    });
    return socket;
  }

  #openTls(): Socket {
    const { hostname } = this.#url;
    const socket = connectTls({
      ...this.#target(443),
      ...(isIP(bare(hostname)) === 0 && { servername: hostname }),
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
      host: bare(this.#url.hostname),
      port: Number(this.#url.port) || usualPort,
      ...(address !== undefined && { lookup: lookupAs(address) }),
    };
  }
}

/** An IPv6 address without the brackets that a URL puts around it. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** Finds one address, whatever the host. */
function lookupAs(address: string): LookupFunction {
  const family = isIP(address);
  return (_, { all }, found) => (all ? found(null, [{ address, family }]) : found(null, address, family));
}
