import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Socket } from "node:net";
import { listen } from "../../lib/net/listen.ts";
import type { ServerTls, TlsIdentity } from "../../lib/net/tls-identity.ts";
import { type ConnectionLimits, limitConnections } from "./connection/limit-connections.ts";
import { type AnswerMalformed, refuseMalformed } from "./connection/malformed.ts";
import { Pipeline } from "./connection/pipeline.ts";
import { stopListening } from "./workarounds/stop-listening.ts";

/** A server that is listening. */
export interface HttpServer {
  /** The address, such as "127.0.0.1:8080". */
  readonly address: string;
  /** The URL, such as "http://127.0.0.1:8080". */
  readonly url: string;
  /**
   * Takes no new connections, lets running responses finish, and cuts those that outlive the deadline in milliseconds.
   */
  close(deadlineMs: number): Promise<void>;
}

/** Bounds on what a client may cost before its request is complete. */
export interface ServerLimits extends ConnectionLimits {
  /** Milliseconds that a head may take. */
  readonly headerTimeoutMs: number;
  /** Milliseconds that a complete request may take, body included. */
  readonly requestTimeoutMs: number;
}

/** Dependencies. */
export interface HttpServerOptions {
  readonly limits: ServerLimits;
  /** Answers bytes that are not a request. */
  readonly answerMalformed: AnswerMalformed;
  /** Undefined: no TLS. */
  readonly tls?: ServerTls | undefined;
  /** The configuration's field that has the address. Default: that of the public surfaces. */
  readonly setting?: string;
  /** Whether other processes may listen on the same address. Default: not. */
  readonly reusePort?: boolean;
}

const maxHeaderSize = 32 * 1024;
/** Milliseconds. Longer than the idle time of the usual load balancers, so that they close first. */
const keepAliveTimeout = 75_000;
const connectionsCheckingInterval = 5_000;
/** Milliseconds that a new connection has for its first request once the server drains. */
const firstRequestMs = 1000;

/** Serves HTTP/1.1 on "host:port" (port 0: any free port), over TLS when a certificate is given. */
export async function startHttpServer(
  listener: RequestListener,
  address: string,
  options: HttpServerOptions,
): Promise<HttpServer> {
  const { tls, limits, answerMalformed, setting = "listen.http", reusePort } = options;
  const pipeline = new Pipeline(listener);
  const serve: RequestListener = (request, response) => {
    // While the server drains, each answer tells its client to use another connection.
    if (!server.listening) {
      response.shouldKeepAlive = false;
    }
    pipeline.serve(request, response);
  };
  const settings: ServerOptions = {
    maxHeaderSize,
    keepAliveTimeout,
    headersTimeout: limits.headerTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: Math.min(connectionsCheckingInterval, limits.headerTimeoutMs),
    requireHostHeader: false, // the listener itself refuses it, in the format of a surface
  };
  const server = tls === undefined ? createHttpServer(settings, serve) : createSecureServer(tls, settings, serve);
  server.on("checkExpectation", serve);
  server.on("clientError", (error, socket) => refuseMalformed(error, socket, pipeline, answerMalformed));
  limitConnections(server, limits);
  const unused = unusedConnections(server, tls === undefined ? "connection" : "secureConnection");
  const bound = await listen(server, address, setting, reusePort);
  return {
    address: bound,
    url: `${tls === undefined ? "http" : "https"}://${bound}`,
    close: (deadlineMs) => close(server, unused, deadlineMs),
  };
}

function createSecureServer(tls: ServerTls, settings: ServerOptions, serve: RequestListener): Server {
  const secure = ({ cert, key }: TlsIdentity) => ({ cert, key });
  const server = createHttpsServer({ ...settings, ...secure(tls.current), handshakeTimeout: 10_000 }, serve);
  tls.onRenewed((identity) => server.setSecureContext(secure(identity)));
  return server;
}

/** Connections without a request so far. */
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
  // Node.js also counts a connection as idle whose first request is still on its way.
  const closeIdle = () => {
    if (unused.size === 0) {
      server.closeIdleConnections();
    }
  };
  // Closes connections that become idle while others still stream: they would otherwise wait for their clients.
  const sweep = setInterval(closeIdle, 100);
  const give = setTimeout(
    () => {
      for (const socket of unused) {
        socket.destroy();
      }
    },
    Math.min(firstRequestMs, deadlineMs),
  );
  const cut = setTimeout(() => server.closeAllConnections(), deadlineMs);
  const closed = once(server, "close");
  stopListening(server);
  closeIdle();
  await closed;
  clearInterval(sweep);
  clearTimeout(give);
  clearTimeout(cut);
  server.close(); // also ends what HTTP's own close ends: the check for slow requests
}
