import { createServer as createHttpServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Socket } from "node:net";
import { toNetwork } from "../net/network.ts";
import { watchEnd } from "../net/send-whole.ts";
import type { ServerTls } from "../net/tls-identity.ts";
import type { Door } from "./door.ts";
import { drainAfterAnswer, type ToClient } from "./drain.ts";
import { findHeadFault, hasBody } from "./head.ts";
import { type AnswerMalformed, plainAnswer, refuseHead, refuseMalformed } from "./malformed.ts";
import { pacedResponses } from "./paced-response.ts";
import { Pipeline } from "./pipeline.ts";
import { keepRenewed, tlsOptions } from "./tls.ts";

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

export interface HttpServerOptions {
  readonly door: Door;
  /** The configuration's field that has the address. */
  readonly setting: string;
  /** Milliseconds that a head may take. Default: 15 s. */
  readonly headerTimeoutMs?: number;
  /** Milliseconds that a complete request may take, body included. Default: 120 s. */
  readonly requestTimeoutMs?: number;
  /** Tells the client of a request behind a trusted proxy. Default: the other end of the connection. */
  readonly toClient?: ToClient;
  /** Answers bytes that are not a request, and requests whose head can be read in two ways. */
  readonly answerMalformed?: AnswerMalformed;
  /** Whether the listener itself watches the clients of its answers. Default: they are watched for it. */
  readonly watchesAnswers?: boolean;
  /** Undefined: no TLS. */
  readonly tls?: ServerTls | undefined;
  /** With a client authority: whether each client must show its certificate. Default: anybody may connect. */
  readonly clients?: "anybody" | "certified";
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
  const {
    tls,
    door,
    setting,
    reusePort,
    clients = "anybody",
    answerMalformed = plainAnswer,
    watchesAnswers = false,
    toClient = ({ socket }) => socket.remoteAddress,
  } = options;
  const { headerTimeoutMs = 15_000, requestTimeoutMs = 120_000 } = options;
  const answering = watchesAnswers ? listener : watched(listener, door);
  const judging: RequestListener = (request, response) => {
    if (hasBody(request)) {
      drainAfterAnswer(request, response, toClient, door);
    }
    const fault = findHeadFault(request);
    return fault === undefined
      ? answering(request, response)
      : refuseHead(fault, request, response, answerMalformed, door);
  };
  const pipeline = new Pipeline(judging, door, toClient);
  const serve: RequestListener = (request, response) => {
    // While the server drains, each answer tells its client to use another connection.
    if (!server.listening) {
      response.shouldKeepAlive = false;
    }
    pipeline.serve(request, response);
  };
  const settings: ServerOptions = {
    ServerResponse: pacedResponses(door, toClient),
    maxHeaderSize,
    keepAliveTimeout,
    headersTimeout: headerTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(connectionsCheckingInterval, headerTimeoutMs),
    requireHostHeader: false, // refused below, in the format of a surface
  };
  const server =
    tls === undefined ? createHttpServer(settings, serve) : createSecureServer(tls, clients, settings, serve);
  server.on("checkExpectation", serve);
  server.on("clientError", (error, socket) => refuseMalformed(error, socket, pipeline, answerMalformed, door));
  const unused = unusedConnections(server, tls === undefined ? "connection" : "secureConnection");
  const bound = await door.open(server, address, setting, reusePort);
  return {
    address: bound,
    url: `${tls === undefined ? "http" : "https"}://${bound}`,
    close: (deadlineMs) => close(server, unused, door, deadlineMs),
  };
}

function createSecureServer(
  tls: ServerTls,
  clients: "anybody" | "certified",
  settings: ServerOptions,
  serve: RequestListener,
): Server {
  const server = createHttpsServer({ ...settings, ...tlsOptions(tls, clients) }, serve);
  keepRenewed(server, tls);
  return server;
}

/** Watches the clients of a listener until they have taken the ends of their answers. */
function watched(listener: RequestListener, { unread }: Door): RequestListener {
  return (request, response) => {
    const network = toNetwork(request.socket.remoteAddress ?? "");
    response.once("prefinish", () => setImmediate(() => watchEnd(response, () => network, unread)));
    listener(request, response);
  };
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

async function close(server: Server, unused: ReadonlySet<Socket>, door: Door, deadlineMs: number): Promise<void> {
  // Node.js also counts a connection as idle whose first request is still on its way, or whose answer is held back.
  const closeIdle = () => {
    if (unused.size === 0 && door.holding === 0) {
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
  const closed = door.close(server);
  closeIdle();
  await closed;
  clearInterval(sweep);
  clearTimeout(give);
  clearTimeout(cut);
  server.close(); // also ends what HTTP's own close ends: the check for slow requests
}
