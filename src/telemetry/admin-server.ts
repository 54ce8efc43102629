import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Registry } from "prom-client";
import { Door } from "#lib/door/door.ts";
import { startHttpServer } from "#lib/door/http-server.ts";
import type { ServerTls } from "#lib/net/tls-identity.ts";
import type { Overload } from "#lib/overload/monitor.ts";
import { keep } from "#lib/time/kept.ts";

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

/** Milliseconds for heads and whole requests, of which nobody needs more. */
const patience = { headerTimeoutMs: 10_000, requestTimeoutMs: 10_000 };

/** Milliseconds for which metrics are kept: to read them takes some, in which all others wait. */
const scrapeMs = 100;

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
  door = new Door({ listener: "admin" }),
): Promise<AdminServer> {
  const scrape = keep(door.clock, scrapeMs, () => registry.metrics());
  const handler: RequestListener = (request, response) => {
    answer(request, response, { type: registry.contentType, scrape }, readiness).catch(() => response.destroy());
  };
  const server = await startHttpServer(handler, address, { door, tls, setting: "listen.admin", ...patience });
  return { address: server.address, close: () => server.close(0) };
}

async function answer(
  { url }: IncomingMessage,
  response: ServerResponse,
  { type, scrape }: { readonly type: string; readonly scrape: () => Promise<string> },
  readiness: Readiness,
): Promise<void> {
  switch (url) {
    case "/metrics":
      response.setHeader("content-type", type);
      response.end(await scrape());
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
