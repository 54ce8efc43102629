import { setMaxListeners } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createConnectRouter, createContextValues } from "@connectrpc/connect";
import { uResponseNotFound } from "@connectrpc/connect/protocol";
import {
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import { listen } from "../../../lib/net/listen.ts";
import { maxRequestBytes, maxResponseBytes } from "../wire/limits.ts";
import { connectionsOf } from "./connections.ts";
import { type ListeningServer, type ServerOptions, stopGently } from "./listening-server.ts";
import { peerKey } from "./peer.ts";
import { keepRenewed, tlsOptions } from "./tls.ts";

/** As ServerOptions, with what is served beside the services. */
export interface ConnectServerOptions extends ServerOptions {
  /** Handlers of plain HTTP, by path. They check their callers themselves. */
  readonly webhooks?: ReadonlyMap<string, RequestListener>;
}

/**
 * Serves over the Connect protocol, which is JSON or binary over HTTP/1.1, for curl, browsers and
 * dashboards. Throws when the address cannot be listened on.
 */
export async function startConnectServer(options: ConnectServerOptions): Promise<ListeningServer> {
  const shutdown = new AbortController();
  setMaxListeners(0, shutdown.signal); // every call under way listens
  const server = listenerOf(options, handlerOf(options, shutdown.signal));
  const connections = connectionsOf(server);
  server.on("request", (_request, response) => {
    // Node closes the connections that are idle when it stops listening, but not those that become so.
    response.once("close", () => server.listening || setImmediate(() => server.closeIdleConnections()));
  });
  return {
    address: await listen(server, options.address, "listen.connect"),
    stop: (graceMs) =>
      stopGently({
        graceMs,
        close(closed) {
          server.close(closed);
          connections.endSilent();
        },
        endCalls: (reason) => shutdown.abort(reason),
        cutOff: () => server.closeAllConnections(),
      }),
  };
}

function listenerOf({ tls }: ServerOptions, handler: RequestListener): Server {
  if (tls === undefined) return createServer(handler);
  const server = createHttpsServer(tlsOptions(tls, "certified"), handler);
  keepRenewed(server, tls);
  return server;
}

function handlerOf(
  { services, interceptors, webhooks }: ConnectServerOptions,
  shutdownSignal: AbortSignal,
): RequestListener {
  const router = createConnectRouter({
    interceptors: [...interceptors],
    grpc: false,
    grpcWeb: false,
    acceptCompression: [compressionGzip],
    readMaxBytes: maxRequestBytes,
    writeMaxBytes: maxResponseBytes,
    shutdownSignal,
  });
  for (const { service, implementation } of services) router.service(service, implementation);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  // connect-node's own adapter does the same, and writes to standard error whenever a client goes away.
  return async (request: IncomingMessage, response: ServerResponse) => {
    const [path = ""] = request.url?.split("?", 1) ?? [];
    const webhook = webhooks?.get(path);
    if (webhook !== undefined) return webhook(request, response);
    const handler = handlers.get(path);
    try {
      const values = createContextValues().set(peerKey, request.socket.remoteAddress);
      const call = universalRequestFromNodeRequest(request, response, undefined, values);
      await universalResponseToNodeResponse(handler ? await handler(call) : uResponseNotFound, response);
    } catch {
      response.destroy(); // the client has gone, which the interceptors know, or never spoke HTTP properly
    }
  };
}
