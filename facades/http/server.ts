import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { Server as NetServer, type Socket } from "node:net";
import { listen } from "../../lib/net/listen.ts";
import type { ServerTls, TlsIdentity } from "../../lib/net/tls-identity.ts";

/** A server that is listening. */
export interface HttpServer {
  /** Where, such as "127.0.0.1:8080". */
  readonly address: string;
  /** The same as a URL, such as "http://127.0.0.1:8080". */
  readonly url: string;
  /** Takes no new connection, lets running responses finish, and cuts those that outlive the deadline in milliseconds. */
  close(deadlineMs: number): Promise<void>;
}

/** Bounds of what a client may cost before its request is whole. */
const limits = {
  maxHeaderSize: 32 * 1024,
  headersTimeout: 15_000,
  /** For the whole request, body included: 2 MiB over a slow line. */
  requestTimeout: 120_000,
  /** Longer than the idle time of the usual load balancers, so that they close first. */
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 5_000,
};
const maxConnections = 20_000;
/** How long a new connection has for its first request once the server drains. */
const firstRequestMs = 1000;

/** Serves HTTP/1.1 on "host:port" (port 0: any free one), over TLS when a certificate is given. */
export async function startHttpServer(
  listener: RequestListener,
  address: string,
  options: { readonly tls?: ServerTls | undefined } = {},
): Promise<HttpServer> {
  const { tls } = options;
  const serve: RequestListener = (request, response) => {
    // While the server drains, each answer tells its client to come back on another connection.
    if (!server.listening) response.shouldKeepAlive = false;
    listener(request, response);
  };
  const server = tls === undefined ? createHttpServer(limits, serve) : createSecureServer(tls, serve);
  server.maxConnections = maxConnections;
  const unused = unusedConnections(server, tls === undefined ? "connection" : "secureConnection");
  const bound = await listen(server, address, "listen.http");
  return {
    address: bound,
    url: `${tls === undefined ? "http" : "https"}://${bound}`,
    close: (deadlineMs) => close(server, unused, deadlineMs),
  };
}

function createSecureServer(tls: ServerTls, serve: RequestListener): Server {
  const secure = ({ cert, key }: TlsIdentity) => ({ cert, key });
  const server = createHttpsServer({ ...limits, ...secure(tls.current), handshakeTimeout: 10_000 }, serve);
  tls.onRenewed((identity) => server.setSecureContext(secure(identity)));
  return server;
}

/** Connections that have brought no request yet. */
function unusedConnections(server: Server, event: "connection" | "secureConnection"): ReadonlySet<Socket> {
  const unused = new Set<Socket>();
  server.on(event, (socket: Socket) => {
    unused.add(socket);
    socket.once("close", () => unused.delete(socket));
  });
  server.on("request", ({ socket }) => unused.delete(socket));
  return unused;
}

async function close(server: Server, unused: ReadonlySet<Socket>, deadlineMs: number): Promise<void> {
  // Idle for Node.js is also a connection whose first request is still on its way.
  const closeIdle = () => {
    if (unused.size === 0) server.closeIdleConnections();
  };
  // A connection that becomes idle while others still stream would otherwise wait for its client.
  const sweep = setInterval(closeIdle, 100);
  const give = setTimeout(
    () => {
      for (const socket of unused) socket.destroy();
    },
    Math.min(firstRequestMs, deadlineMs),
  );
  const cut = setTimeout(() => server.closeAllConnections(), deadlineMs);
  const closed = once(server, "close");
  NetServer.prototype.close.call(server); // HTTP's own would close idle connections first
  closeIdle();
  await closed;
  clearInterval(sweep);
  clearTimeout(give);
  clearTimeout(cut);
  server.close(); // ends what HTTP's own close ends besides: the check of slow requests
}
