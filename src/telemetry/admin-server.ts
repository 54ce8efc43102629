import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Registry } from "prom-client";

/** Whether the process wants traffic; SIGTERM turns it off before anything stops. */
export interface Readiness {
  ready: boolean;
}

/** A running admin server. */
export interface AdminServer {
  /** host:port that it listens on. */
  readonly address: string;
  close(): Promise<void>;
}

/** Serves /metrics for Prometheus and /livez and /readyz for a supervisor. Rejects when the address is taken. */
export function startAdminServer(address: string, registry: Registry, readiness: Readiness): Promise<AdminServer> {
  const server = createServer((request, response) => void answer(request, response, registry, readiness));
  const colon = address.lastIndexOf(":");
  const [host, port] = [address.slice(0, colon), Number(address.slice(colon + 1))];
  return new Promise((resolve, reject) => {
    server.once("error", (cause) =>
      reject(new Error(`cannot listen on ${address} for metrics and health: ${cause.message}`, { cause })),
    );
    server.listen(port, host, () => {
      const bound = server.address();
      const actual = typeof bound === "object" && bound !== null ? bound.port : port;
      resolve({
        address: `${host}:${actual}`,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            server.closeAllConnections();
          }),
      });
    });
  });
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
      response.statusCode = readiness.ready ? 200 : 503;
      response.end(readiness.ready ? "ready\n" : "not ready\n");
      return;
    default:
      response.statusCode = 404;
      response.end("not found\n");
  }
}
