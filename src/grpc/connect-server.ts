import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createConnectRouter, createContextValues } from "@connectrpc/connect";
import { uResponseNotFound } from "@connectrpc/connect/protocol";
import {
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import { parseAddress } from "../config/address.ts";
import { maxRequestBytes, maxResponseBytes } from "./limits.ts";
import { listenError } from "./listen-error.ts";
import { peerKey } from "./peer.ts";
import type { ListeningServer, ServerOptions } from "./server.ts";

/**
 * Serves over the Connect protocol, which is JSON or binary over plain HTTP/1.1, for curl, browsers and
 * dashboards. Throws when the address cannot be listened on.
 */
export async function startConnectServer(options: ServerOptions): Promise<ListeningServer> {
  const { address } = options;
  const server = createServer(handlerOf(options));
  const { port } = await listen(server, address);
  return {
    address: address.replace(/\d+$/, String(port)),
    stop: (graceMs) =>
      new Promise((resolve) => {
        const cutOff = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close(() => {
          clearTimeout(cutOff);
          resolve();
        });
      }),
  };
}

function handlerOf({ services, interceptors }: ServerOptions): RequestListener {
  const router = createConnectRouter({
    interceptors: [...interceptors],
    grpc: false,
    grpcWeb: false,
    acceptCompression: [compressionGzip],
    readMaxBytes: maxRequestBytes,
    writeMaxBytes: maxResponseBytes,
  });
  for (const { service, implementation } of services) router.service(service, implementation);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  // connect-node's own adapter does the same, and writes to standard error whenever a client goes away.
  return async (request: IncomingMessage, response: ServerResponse) => {
    const [path = ""] = request.url?.split("?", 1) ?? [];
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

function listen(server: Server, address: string): Promise<AddressInfo> {
  const at = parseAddress(address);
  if (!at) throw new Error(`${address} is not an address such as 127.0.0.1:50052`);
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(listenError(address, "listen.connect", error)));
    server.listen(at.port, at.host, () => resolve(server.address() as AddressInfo));
  });
}
