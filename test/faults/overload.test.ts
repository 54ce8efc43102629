import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Health, HealthCheckResponse_ServingStatus } from "#gen/grpc/health/v1/health_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { createChannelTransport } from "#src/wire/grpc/client/channel-transport.ts";
import { eventually } from "../support/eventually.ts";
import { pause } from "../support/pause.ts";
import { createSite, freePorts, logs, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";

// More work than a real process can bear: it says so on every door, goes on with what it has, and recovers by itself.

const model = "m";
const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
/** Prompts as the bodies of requests: a short one, and one that takes much memory and much work. */
const [small, large] = ["Hello", "word ".repeat(300_000)].map((content) =>
  Buffer.from(JSON.stringify({ model, max_tokens: 10, messages: [{ role: "user", content }] })),
) as [Buffer<ArrayBuffer>, Buffer<ArrayBuffer>];
const servers = 60;

let engine: Server;
/** Requests that the engine keeps waiting. */
let waiting: ServerResponse[];
let isHolding: boolean;
let site: Site;
let tollgate: Tollgate;
let key: string;

beforeEach(() => {
  waiting = [];
  isHolding = false;
});
afterEach(async () => {
  await tollgate?.stop();
  engine.close().closeAllConnections();
  await site?.remove();
});

async function start(overload: object, env: NodeJS.ProcessEnv = {}): Promise<void> {
  engine = createServer((request, response) => void serveEngine(request, response)).listen(0, "127.0.0.1");
  await once(engine, "listening");
  site = await createSite(env);
  const url = `http://127.0.0.1:${(engine.address() as AddressInfo).port}`;
  // A server is given one prompt of this size at a time.
  const served = Array.from({ length: servers }, (_, i) => ({ url, engine: "openai", model: `${model}-${i}` }));
  const models = [{ id: model, context_length: 4_000_000, servers: served }];
  const config = await site.configure({ ...freePorts, rate_tiers: [{ rpm: 100_000 }], overload, models });
  tollgate = await startTollgate(site, "serve", "--config", config);
  const { id } = (await tollgate.admin("accounts", "create")) as { id: string };
  await tollgate.admin("accounts", "top-up", id, "--usd", "500", "--ref", "payment");
  ({ key } = (await tollgate.admin("keys", "create", id)) as { key: string });
}

async function serveEngine(request: IncomingMessage, response: ServerResponse): Promise<void> {
  await once(request.resume(), "end");
  if (request.method !== "POST") {
    response.end(JSON.stringify({ object: "list", data: [{ id: model, object: "model" }] }));
  } else if (isHolding) {
    waiting.push(response);
  } else {
    answer(response);
  }
}

function answer(response: ServerResponse): void {
  const choices = [{ index: 0, delta: { content: "fine" }, finish_reason: "stop" }];
  response.setHeader("content-type", "text/event-stream");
  response.end(`data: ${JSON.stringify({ choices, usage })}\n\ndata: [DONE]\n\n`);
}

async function ask(path: string, body = small): Promise<{ status: number; retryAfter: string | null }> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(tollgate.url + path, { method: "POST", headers, body });
  await response.arrayBuffer();
  return { status: response.status, retryAfter: response.headers.get("retry-after") };
}

const chat = (body?: typeof small) => ask("/v1/chat/completions", body);
const messages = (body?: typeof small) => ask("/v1/messages", body);

async function admin(path: string): Promise<[number, string]> {
  const response = await fetch(`http://${tollgate.addresses.admin}${path}`);
  return [response.status, await response.text()];
}

/** What the core's own doors say to a call and to the question whether it is well. */
async function askCore(): Promise<{ codes: unknown[]; health: unknown[] }> {
  const grpc = createChannelTransport({ target: String(tollgate.addresses.grpc) });
  const connect = createConnectTransport({ baseUrl: `http://${tollgate.addresses.connect}`, httpVersion: "1.1" });
  const codes: unknown[] = [];
  const health: unknown[] = [];
  for (const transport of [grpc, connect]) {
    const call = createClient(CatalogueService, transport).listModels({});
    codes.push(await call.then(() => "ok").catch((error: { message: string }) => error.message));
    health.push((await createClient(Health, transport).check({})).status);
  }
  grpc.close();
  return { codes, health };
}

const shed = "[unavailable] The service has more work than it can do at the moment.";
const { SERVING } = HealthCheckResponse_ServingStatus;

test("a process whose memory is full refuses new requests on every door, ends those that run, and recovers", async () => {
  await start({ max_memory: 0.4, max_lag_ms: 60_000 }, { NODE_OPTIONS: "--max-old-space-size=300" });
  isHolding = true;
  const asked: Promise<{ status: number }>[] = [];
  let open = 0;
  await eventually(
    "the memory is full",
    async () => {
      // One that is refused, because too many bodies come at the same time, gives way to another.
      if (open < servers) {
        open += 1;
        asked.push(
          chat(large).finally(() => {
            open -= 1;
          }),
        );
      }
      return (await admin("/readyz"))[1] === "ready, overloaded: memory\n";
    },
    120,
  );
  expect(await chat()).toEqual({ status: 503, retryAfter: "5" });
  expect(await messages()).toEqual({ status: 529, retryAfter: "5" });
  expect(await askCore()).toEqual({ codes: [shed, shed], health: [SERVING, SERVING] });
  expect(await admin("/livez")).toEqual([200, "ok\n"]);
  expect((await admin("/metrics"))[1]).toContain('tollgate_overloaded{shortage="memory"} 1');
  expect(await tollgate.admin("servers", "list")).toHaveLength(servers);
  isHolding = false;
  for (const response of waiting) {
    answer(response);
  }
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(5);
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  await eventually("requests are taken again", async () => (await chat()).status === 200, 120);
  expect(await admin("/readyz")).toEqual([200, "ready\n"]);
}, 300_000);

/** Has the process of a service stand still again and again, for most of the time. Returns the function that ends it. */
function slowDown({ process: slowed }: Tollgate): () => Promise<void> {
  let isSlow = true;
  const slowing = (async () => {
    while (isSlow) {
      slowed.kill("SIGSTOP");
      await pause(400, "it stands still");
      slowed.kill("SIGCONT");
      await pause(100, "it comes to do a little");
    }
  })();
  return () => {
    isSlow = false;
    return slowing;
  };
}

test("a process whose event loop comes late refuses new requests on every door, and recovers", async () => {
  await start({ max_lag_ms: 100 });
  const goOn = slowDown(tollgate);
  const told = new Set<string>();
  try {
    await eventually(
      "every door refuses",
      async () => {
        const [one, other, core] = await Promise.all([chat(), messages(), askCore()]);
        told.add(`chat ${one.status} ${one.retryAfter}`).add(`messages ${other.status} ${other.retryAfter}`);
        core.codes.forEach((code, door) => void told.add(`door ${door}: ${code}`));
        expect(core.health).toEqual([SERVING, SERVING]);
        expect(await admin("/livez")).toEqual([200, "ok\n"]);
        return ["chat 503 5", "messages 529 5", `door 0: ${shed}`, `door 1: ${shed}`].every((one) => told.has(one));
      },
      120,
    );
  } finally {
    await goOn();
  }
  await eventually("requests are taken again", async () => (await chat()).status === 200, 120);
  await logs(tollgate, { shortage: "event_loop" });
}, 300_000);
