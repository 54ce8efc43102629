import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { ConnectError } from "@connectrpc/connect";
import { listen } from "../../../../lib/net/listen.ts";
import type { ServerTls } from "../../../../lib/net/tls-identity.ts";
import { maxHeaderBytes } from "../../messages/limits.ts";
import { type ConnectionLimits, findConnections } from "../connections.ts";
import { type ListeningServer, stopGently } from "../listening-server.ts";
import { keepRenewed, tlsOptions } from "../tls.ts";

/** Options of a listener for HTTP/1.1. */
export interface HttpListenerOptions {
  /** `host:port`. Port 0 picks a free one. */
  readonly address: string;
  /** The configuration's field that has the address. */
  readonly setting: string;
  readonly handler: RequestListener;
  /** Default: no TLS. */
  readonly tls?: ServerTls | undefined;
  /** With a client authority: whether each client must show its certificate. */
  readonly clients: "anybody" | "certified";
  readonly connections?: Partial<ConnectionLimits> | undefined;
  /** Ends the running calls with this error. Default: they are cut off when their time is over. */
  readonly endCalls?: (reason: ConnectError) => void;
}

/** Bounds on what a client may cost before its request is complete, in bytes and milliseconds. */
const limits = {
  maxHeaderSize: maxHeaderBytes,
  headersTimeout: 15_000,
  requestTimeout: 120_000,
  connectionsCheckingInterval: 5_000,
};

/** Listens for HTTP/1.1 within bounds. Throws when the address cannot be listened on. */
export async function startHttpListener(options: HttpListenerOptions): Promise<ListeningServer> {
  const server = createListener(options);
  const connections = findConnections(server, options.connections);
  server.on("request", (_request, response) => {
    // When it stops listening, Node closes connections that are idle, but not those that become idle later.
    response.once("close", () => server.listening || setImmediate(() => server.closeIdleConnections()));
  });
  return {
    address: await listen(server, options.address, options.setting),
    stop: (graceMs) =>
      stopGently({
        graceMs,
        close(closed) {
          server.close(closed);
          connections.endSilent();
        },
        endCalls: (reason) => options.endCalls?.(reason),
        cutOff: () => server.closeAllConnections(),
      }),
  };
}

function createListener({ tls, clients, handler }: HttpListenerOptions): Server {
  if (tls === undefined) {
    return createServer(limits, handler);
  }
  const server = createHttpsServer({ ...limits, ...tlsOptions(tls, clients) }, handler);
  keepRenewed(server, tls);
  return server;
}
