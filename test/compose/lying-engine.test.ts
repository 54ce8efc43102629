import { afterAll, beforeAll, expect, test } from "@jest/globals";
import {
  answerChunks,
  type HostileServer,
  startHostileServer,
  textChunk,
} from "../fleet/engines/hostile/hostile-server.ts";
import { eventually } from "../support/eventually.ts";
import { createSite, freePorts, logs, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";

// The whole program before inference servers that lie about what they did: what customers pay, and who gets work.

const engines = ["vllm", "llama.cpp", "openai", "ollama", "sglang-grpc"] as const;
type EngineName = (typeof engines)[number];

const servers = new Map<EngineName, HostileServer>();
let site: Site;
let tollgate: Tollgate;
let key: string;

beforeAll(async () => {
  for (const engine of engines) {
    servers.set(engine, await startHostileServer(engine));
  }
  site = await createSite();
  const models = engines.map((engine) => ({
    id: `of/${engine}`,
    context_length: 131_072,
    price: { input: "0.20", output: "0.25" },
    servers: [{ url: serverOf(engine).url, engine, model: "m" }],
  }));
  const config = { ...freePorts, models, fleet: { health_interval_s: 1, queue_timeout_s: 5 } };
  tollgate = await startTollgate(site, "serve", "--config", await site.configure(config));
  const { id } = (await tollgate.admin("accounts", "create", "--name", "customer")) as { id: string };
  await tollgate.admin("accounts", "top-up", id, "--usd", "10", "--ref", "payment");
  ({ key } = (await tollgate.admin("keys", "create", id, "--rpm", "100000")) as { key: string });
}, 60_000);

afterAll(async () => {
  await tollgate?.stop();
  await site?.remove();
  for (const server of servers.values()) {
    await server[Symbol.asyncDispose]();
  }
}, 60_000);

function serverOf(engine: EngineName): HostileServer {
  const server = servers.get(engine);
  if (server === undefined) {
    throw new Error(`there is no ${engine}`);
  }
  return server;
}

const post = (path: string, body: object) =>
  fetch(`${tollgate.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ max_tokens: 5, messages: [{ role: "user", content: "hi" }], ...body }),
  });

interface Receipt {
  readonly status: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: string;
}

const receiptOf = async (response: Response) =>
  (await tollgate.admin("receipt", String(response.headers.get("x-request-id")))) as Receipt;

async function breakerOf(engine: EngineName): Promise<string | undefined> {
  const all = (await tollgate.admin("servers", "list")) as { model: string; breaker: string }[];
  return all.find(({ model }) => model === `of/${engine}`)?.breaker;
}

test.each(engines)(
  "%s: nobody pays for what it cannot have done, and it is left out until it is honest",
  async (engine) => {
    const server = serverOf(engine);
    server.chunks = answerChunks(engine, "abc", 1e8, 4e9);
    const response = await post("/v1/chat/completions", { model: `of/${engine}` });
    const { usage } = (await response.json()) as { usage: Record<string, number> };
    const receipt = await receiptOf(response);
    expect([receipt.input_tokens, receipt.output_tokens]).toEqual([usage.prompt_tokens, usage.completion_tokens]);
    expect(receipt.input_tokens).toBeLessThanOrEqual(4200);
    expect(receipt.output_tokens).toBeLessThanOrEqual(8);
    expect(Number(receipt.cost_usd)).toBeLessThan(0.001);

    const metrics = await (await fetch(`http://${tollgate.addresses.admin}/metrics`)).text();
    expect(metrics).toMatch(new RegExp(`tollgate_implausible_counts_total{[^}]*of/${engine}"[^}]*} 1`));
    await logs(tollgate, { msg: "server said what cannot be true" });

    server.chunks = answerChunks(engine, "abc", 7, 3);
    const asked = () => post("/v1/chat/completions", { model: `of/${engine}` });
    await eventually("it serves again", async () => (await asked()).status === 200);
    expect(await breakerOf(engine)).toBe("closed");
  },
  60_000,
);

test("a template's own text that comes as a piece is no token: the engine's count is charged", async () => {
  // As transformers serve sends a template's empty thinking before the tokens, and the count with the finish.
  const pieces = ["<think>\n\n</think>\n\n", "one", " two", " three", " four", " five"];
  serverOf("openai").chunks = [
    ...pieces.map((piece) => textChunk("openai", piece)),
    { choices: [{ index: 0, delta: {}, finish_reason: "length" }], usage: { prompt_tokens: 21, completion_tokens: 5 } },
  ];
  for (const stream of [true, false]) {
    const response = await post("/v1/chat/completions", { model: "of/openai", stream });
    const text = await response.text();
    expect(text).toContain(" five");
    const receipt = await receiptOf(response);
    expect(receipt).toMatchObject({ status: "completed", input_tokens: 21, output_tokens: 5 });
  }
});

const wrong = [null, { choices: 5 }, { choices: [{ delta: { content: {} } }] }, { usage: "x" }];

test.each(
  ["/v1/chat/completions", "/v1/messages"].flatMap((path) => [true, false].map((stream) => [path, stream] as const)),
)(
  "%s, streamed: %s: wrong types in an answer are the server's failure, and what was counted is paid",
  async (path, stream) => {
    const server = serverOf("vllm");
    for (const chunk of wrong) {
      for (const began of [false, true]) {
        const counted = [
          { choices: [{ delta: { content: "abc" } }], usage: { prompt_tokens: 7, completion_tokens: 2 } },
        ];
        server.chunks = [...(began ? counted : []), chunk];
        const response = await eventually("its breaker, open for a second, lets a request through", async () => {
          const answered = await post(path, { model: "of/vllm", stream });
          return [503, 529].includes(answered.status) ? undefined : answered;
        });
        const text = await response.text();
        if (response.status === 200) {
          expect(text).toMatch(/"error"/);
        } else {
          expect(response.status).toBe(502);
        }
        expect(text).not.toMatch(/TypeError|internal/i);
      }
    }
  },
  60_000,
);

test("the books add up after all that", async () => {
  expect(await tollgate.admin("reconcile")).toMatchObject({ ok: true });
}, 30_000);
