import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";

/** Certificate and key in PEM. */
export interface TlsIdentity {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** A server's identity, which changes when its certificate is renewed. */
export interface ServerTls {
  readonly current: TlsIdentity;
  /** Calls back with each new one. */
  onRenewed(listener: (identity: TlsIdentity) => void): void;
}

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
  await listen(server, address);
  const { address: host, port, family } = server.address() as AddressInfo;
  const bound = `${family === "IPv6" ? `[${host}]` : host}:${port}`;
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

function listen(server: Server, address: string): Promise<void> {
  const { host, port } = parseAddress(address);
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(explained(error, address)));
    server.listen(port, host, () => resolve());
  });
}

function parseAddress(address: string): { host: string; port: number } {
  const match = /^(?:\[(?<v6>.+)\]|(?<name>[^:]+)):(?<port>\d+)$/.exec(address)?.groups;
  const host = match?.v6 ?? match?.name;
  if (host === undefined) throw new Error(`${address} is not host:port`);
  return { host, port: Number(match?.port) };
}

function explained(error: NodeJS.ErrnoException, address: string): Error {
  switch (error.code) {
    case "EADDRINUSE":
      return new Error(`${address} is already in use: stop what listens there, or choose another address`, {
        cause: error,
      });
    case "EACCES":
      return new Error(`${address} may not be used: ports below 1024 need a privilege`, { cause: error });
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new Error(`${address} is not an address of this machine`, { cause: error });
    default:
      return error;
  }
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
