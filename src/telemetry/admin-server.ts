import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Registry } from "prom-client";
import { listen } from "../../lib/net/listen.ts";
import type { ServerTls } from "../../lib/net/tls-identity.ts";
import type { Overload } from "../../lib/overload/monitor.ts";
import { keepRenewed, tlsOptions } from "../grpc/server/tls.ts";

/** Whether the process wants traffic. SIGTERM turns it off before anything stops. */
export interface Readiness {
  ready: boolean;
  /** Returns, in words, what keeps the process from serving. Undefined, or absent: nothing does. */
  findFault?: () => string | undefined;
  /** Shown with the readiness. Undefined: the load is not watched. */
  overload?: Overload;
}

/** Whether requests should be sent to the process. */
export const isReady = ({ ready, findFault }: Readiness): boolean => ready && findFault?.() === undefined;

/** A running admin server. */
export interface AdminServer {
  /** host:port that it listens on. */
  readonly address: string;
  close(): Promise<void>;
}

/** Serves /metrics for Prometheus and /livez and /readyz for a supervisor. Rejects when the address is taken. */
export async function startAdminServer(
  address: string,
  registry: Registry,
  readiness: Readiness,
  tls?: ServerTls | undefined,
): Promise<AdminServer> {
  const server = toListener((request, response) => void answer(request, response, registry, readiness), tls);
  return {
    address: await listen(server, address, "listen.admin"),
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function toListener(handler: RequestListener, tls: ServerTls | undefined) {
  if (tls === undefined) {
    return createServer(handler);
  }
  const server = createHttpsServer(tlsOptions(tls, "anybody"), handler);
  keepRenewed(server, tls);
  return server;
}

async function answer(
  { url }: IncomingMessage,
  response: ServerResponse,
  registry: Registry,
  readiness: Readiness,
): Promise<void> {
  switch (url) {
    case "/metrics":
      response.setHeader("content-type", registry.contentType);
      response.end(await registry.metrics());
      return;
    case "/livez":
      response.end("ok\n");
      return;
    case "/readyz":
      response.statusCode = isReady(readiness) ? 200 : 503;
      response.end(`${readinessText(readiness)}\n`);
      return;
    default:
      response.statusCode = 404;
      response.end("not found\n");
  }
}

/**
 * An overloaded process stays ready for its balancer: it answers 503 itself, and without it the others would be
 * overloaded, too.
 */
function readinessText({ ready, findFault, overload }: Readiness): string {
  const shortage = overload?.shortage;
  const fault = findFault?.();
  const wants = fault !== undefined ? `not ready: ${fault}` : ready ? "ready" : "not ready";
  return shortage === undefined ? wants : `${wants}, overloaded: ${shortage}`;
}
