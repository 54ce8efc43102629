import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Api } from "./api.ts";
import { Bank } from "./bank.ts";
import { Events } from "./events.ts";
import { ApiFaults } from "./faults.ts";
import { readForm } from "./form.ts";
import { openPage, type Page } from "./pages.ts";
import type { Host } from "./routes.ts";
import { State } from "./state.ts";

/** How the stand-in for Stripe is started. */
export interface StandInOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** An endpoint that gets all events from the start, with the secret that signs them. */
  readonly webhook?: { readonly url: string; readonly secret: string };
}

/** A request of the API as it came. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** A stand-in for Stripe that is listening. No money moves. */
export interface StandIn extends Host {
  readonly url: string;
  readonly port: number;
  readonly faults: ApiFaults;
  /** All requests of the API, in the order in which they came. */
  readonly requests: readonly SeenRequest[];
  close(): Promise<void>;
}

const maxBytes = 1_000_000;

/** Starts a stand-in for Stripe's API, its pages and its events. Rejects when the port is taken. */
export async function startStripe({ host, port, webhook }: StandInOptions): Promise<StandIn> {
  const state = new State();
  const events = new Events(state);
  const parts: Host = { state, events, bank: new Bank(state, events) };
  const api = new Api(parts);
  const faults = new ApiFaults();
  const requests: SeenRequest[] = [];
  const server = createServer((request, response) => {
    readText(request)
      .then((body) => answer(request, response, body))
      .catch(() => response.destroy());
  });

  function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
    const [path = "/", query = ""] = (request.url ?? "/").split("?", 2);
    const method = request.method ?? "GET";
    if (!path.startsWith("/v1/")) {
      showPage(response, openPage(parts, method, path, readForm(body)));
      return;
    }
    requests.push({ method, path: request.url ?? "", body });
    if (faults.fails(method, path)) {
      response.writeHead(500, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { type: "api_error", message: "The stand-in was told to fail." } }));
      return;
    }
    const reply = api.answer(request, path, query, body);
    if (faults.loses(method, path)) {
      response.destroy();
      return;
    }
    response
      .writeHead(reply.status, {
        "content-type": "application/json",
        ...(reply.isReplayed ? { "idempotent-replayed": "true" } : {}),
      })
      .end(JSON.stringify(reply.body));
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const listening = (server.address() as AddressInfo).port;
  state.url = `http://${host.includes(":") ? `[${host}]` : host}:${listening}`;
  if (webhook !== undefined) {
    const head = state.head("we", "webhook_endpoint" as const);
    const facts = { status: "enabled", metadata: {}, enabled_events: ["*"] };
    state.endpoints.set(head.id, { ...head, ...facts, ...webhook });
  }
  return {
    ...parts,
    ...{ url: state.url, port: listening, faults, requests },
    close() {
      events.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

function showPage(response: ServerResponse, page: Page | undefined): void {
  const { status = 404, html, location } = page ?? {};
  const headers = { "content-type": "text/html; charset=utf-8", ...(location === undefined ? {} : { location }) };
  response.writeHead(status, headers).end(html);
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new Error("too large");
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
