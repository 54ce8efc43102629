import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { json, type ScriptedServer, scriptedServer } from "../fleet/engines/scripted-server.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";

// Facade and core apart, an engine and a collector over real HTTP: one trace from the client to the engine.

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  status: { code?: number };
  attributes: { key: string; value: Record<string, unknown> }[];
}

const prompt = "MARKER-PROMPT";
const answer = "MARKER-ANSWER";
const client = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
const traceparent = `00-${client.traceId}-${client.spanId}-01`;

function stream(response: ServerResponse): void {
  const chunk = (delta: object, finishReason: string | null) => ({
    choices: [{ index: 0, delta, finish_reason: finishReason }],
    usage: { prompt_tokens: 7, completion_tokens: 2 },
  });
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const part of [chunk({ role: "assistant", content: answer }, null), chunk({}, "stop")]) {
    response.write(`data: ${JSON.stringify(part)}\n\n`);
  }
  response.end("data: [DONE]\n\n");
}

let collector: ScriptedServer;
let engine: ScriptedServer;
let sites: Site[];
let core: Tollgate;
let facade: Tollgate;
let key: string;
let requestId: string | null;
let spans: Span[];

beforeAll(async () => {
  collector = await scriptedServer({ "/v1/traces": (_, response) => json(response, {}) });
  engine = await scriptedServer({
    "/health": (_, response) => response.end(),
    "/v1/chat/completions": (_, response) => stream(response),
  });
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  sites = await Promise.all([createSite(env), createSite(env)]);
  const [first, second] = sites as [Site, Site];
  const models = [{ id: "ours", servers: [{ url: engine.url, engine: "vllm", model: "theirs" }] }];
  core = await startTollgate(first, "core", "--config", await first.configure({ ...freePorts, models }));
  const config = await second.configure(freePorts);
  facade = await startTollgate(second, "facade", "--core", String(core.addresses.grpc), "--config", config);
  const { id } = (await core.admin("accounts", "create", "--name", "test")) as { id: string };
  ({ key } = (await core.admin("keys", "create", id)) as { key: string });
  const ask = (model: string) =>
    fetch(`${facade.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, traceparent, tracestate: "vendor=1" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: prompt }], max_tokens: 9 }),
    });
  const answered = await ask("ours");
  requestId = answered.headers.get("x-request-id");
  expect(await answered.text()).toContain(answer);
  await (await ask("unknown")).text();
  await Promise.all([facade.stop(), core.stop()]); // what was not exported yet is exported now
  spans = collector.received.flatMap(({ body }) =>
    body.resourceSpans.flatMap(({ scopeSpans }: { scopeSpans: { spans: Span[] }[] }) =>
      scopeSpans.flatMap((scope) => scope.spans),
    ),
  );
}, 90_000);

afterAll(async () => {
  await Promise.all([facade?.stop(), core?.stop()]);
  await Promise.all([collector, engine].map((server) => server?.[Symbol.asyncDispose]()));
  await Promise.all(sites.map((site) => site.remove()));
}, 60_000);

const attributesOf = (span: Span | undefined) =>
  Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]));

/** The spans of the facade and the core bear the request id, those of the core and the engine the run id. */
function ofRequest(): Span[] {
  const runOf = (span: Span) => attributesOf(span)["tollgate.run_id"];
  const named = spans.filter((span) => attributesOf(span)["tollgate.request_id"] === requestId);
  const runs = new Set<unknown>(named.map(runOf).filter((run) => run !== undefined));
  return spans.filter((span) => named.includes(span) || runs.has(runOf(span)));
}

test("facade, core and engine call are spans of the client's trace, each below the one before", () => {
  const [exchange, call, generation] = [
    "POST /v1/chat/completions",
    "tollgate.inference.v1.InferenceService/Generate",
    "chat theirs",
  ].map((name) => ofRequest().find((span) => span.name === name));
  expect(ofRequest().map(({ traceId }) => traceId)).toEqual([client.traceId, client.traceId, client.traceId]);
  expect(exchange?.parentSpanId).toBe(client.spanId);
  expect(call?.parentSpanId).toBe(exchange?.spanId);
  expect(generation?.parentSpanId).toBe(call?.spanId);
  const reached = engine.received.find(({ path }) => path === "/v1/chat/completions");
  expect(reached?.headers.traceparent).toBe(`00-${client.traceId}-${generation?.spanId}-01`);
  expect(reached?.headers.tracestate).toBe("vendor=1");
});

test("the engine's span follows the conventions for generative AI", () => {
  const { hostname, port } = new URL(engine.url);
  expect(attributesOf(ofRequest().find(({ kind }) => kind === 3))).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "vllm",
    "gen_ai.request.model": "theirs",
    "gen_ai.request.max_tokens": 9,
    "gen_ai.request.temperature": 0.7,
    "gen_ai.usage.input_tokens": 7,
    "gen_ai.usage.output_tokens": 2,
    "gen_ai.response.finish_reasons": { values: [{ stringValue: "stop" }] },
    "server.address": hostname,
    "server.port": Number(port),
  });
});

test("a refusal is told, and is no error of ours", () => {
  const refused = spans.filter((span) => attributesOf(span)["error.type"] === "MODEL_NOT_FOUND");
  expect(refused.map(({ name }) => name)).toEqual(["tollgate.inference.v1.InferenceService/Generate"]);
  expect(refused[0]?.status.code ?? 0).toBe(0);
});

test("no span has a prompt, an answer or a key", () => {
  const exported = JSON.stringify(collector.received.map(({ body }) => body));
  for (const secret of [prompt, answer, key]) {
    expect(exported).not.toContain(secret);
  }
});
