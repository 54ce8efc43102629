import { afterAll, expect, test } from "@jest/globals";
import type { EngineName } from "#lib/inference/engine-names.ts";
import { configSchema } from "#src/config/schema.ts";
import { inspectServer } from "#src/fleet/engines/drivers/inspect-server.ts";
import type { DialectName, SimulatorOptions } from "../../../../simulator/options.ts";
import { type Simulator, startSimulator } from "../../../../simulator/server.ts";
import { json, scriptedServer } from "../scripted-server.ts";

const contextLength = 4096;
const gpu = { maxRunning: 8 };
const simulators: Simulator[] = [];
afterAll(() => Promise.all(simulators.map((one) => one.close())));

type Model = Extract<SimulatorOptions["models"][number], object>;

async function inspect(
  dialect: DialectName & EngineName,
  { setup = {}, model = {}, configured = {}, capacity = 8 }: Partial<Options> = {},
) {
  const models = [{ id: "m", contextLength, gpu, ...model }];
  const sim = await startSimulator({ dialect, speed: 0, setup, models });
  simulators.push(sim);
  return inspectUrl(sim.url, dialect, configured, capacity);
}

interface Options {
  readonly setup: NonNullable<SimulatorOptions["setup"]>;
  readonly model: Partial<Model>;
  readonly configured: object;
  readonly capacity: number;
}

function inspectUrl(url: string, engine: EngineName, configured: object = {}, capacity = 8) {
  const server = { url, engine, capacity };
  const config = configSchema.parse({
    models: [{ id: "m", context_length: contextLength, ...configured, servers: [server] }],
  });
  const [model] = config.models;
  const [parsed] = model?.servers ?? [];
  if (model === undefined || parsed === undefined) {
    throw new Error("the configuration lost its server");
  }
  return inspectServer({ model, server: parsed }, 1000, new AbortController().signal);
}

const thinks = { thinking: { mode: "default_on" } } as const;

test.each<[DialectName & EngineName, string | undefined, object]>([
  ["vllm", "0.28.0", { "KV cache tokens": 524_288, "prefix caching": true, counts: "as it goes" }],
  ["sglang", "0.5.9", { "context length": 4096, "running requests": 8, "tool parser": "qwen25" }],
  ["llama.cpp", "b9000-simulated", { slots: 8, "context length of a slot": 4096, "cached tokens": "told" }],
  ["trtllm", "1.2.0", { counts: "as it goes", "cached tokens": "told" }],
  ["openai", undefined, { counts: "at the end", "tool calls": "taken" }],
])("%s as it should be tells its version and limits, and nothing against it", async (dialect, version, facts) => {
  const found = await inspect(dialect, { model: thinks, configured: thinks });
  expect(found.remarks).toEqual([]);
  expect(found.version).toBe(version);
  expect(found.facts).toMatchObject({ ...facts, thinking: "apart" });
});

test("Ollama as it should be", async () => {
  const found = await inspect("ollama");
  expect(found).toMatchObject({
    version: "0.14.0",
    facts: { "context length": 4096, "loaded with context": 4096, capabilities: "completion, tools" },
    remarks: [],
  });
});

test.each<[DialectName & EngineName, Partial<Options>, RegExp]>([
  ["vllm", { setup: { toolCalls: false } }, /^refuses tools .*: --enable-auto-tool-choice --tool-call-parser PARSER$/],
  ["vllm", { setup: { prefixCaching: false } }, /--enable-prefix-caching$/],
  ["vllm", { setup: { cacheReport: false } }, /--enable-prompt-tokens-details$/],
  ["vllm", { setup: { metrics: false } }, /--disable-log-stats$/],
  ["sglang", { setup: { toolCalls: false } }, /--tool-call-parser PARSER$/],
  ["sglang", { setup: { prefixCaching: false } }, /--disable-radix-cache$/],
  ["sglang", { setup: { cacheReport: false } }, /--enable-cache-report$/],
  ["sglang", { setup: { metrics: false } }, /--enable-metrics$/],
  ["sglang", { capacity: 9 }, /^runs 8 requests at once, fewer than capacity: 9/],
  ["llama.cpp", { setup: { toolCalls: false } }, /^refuses tools \(tools param requires --jinja flag\): --jinja$/],
  ["llama.cpp", { setup: { metrics: false } }, /: --metrics$/],
  ["llama.cpp", { capacity: 9 }, /^has 8 slots, fewer than capacity: 9: set capacity: 8/],
  ["llama.cpp", { configured: { context_length: 8192 } }, /^has 4096 tokens a slot, fewer than context_length 8192/],
  ["ollama", { setup: { toolCalls: false } }, /^refuses tools with this model/],
  ["ollama", { configured: thinks }, /^refuses to think/],
  ["ollama", { model: thinks }, /^thinks, although/],
  ["ollama", { configured: { context_length: 2048 } }, /OLLAMA_CONTEXT_LENGTH=2048$/],
  ["ollama", { capacity: 9 }, /OLLAMA_NUM_PARALLEL/],
  ["trtllm", { setup: { metrics: false } }, /return_perf_metrics: true/],
  ["openai", { model: thinks }, /^thinks, although/],
  ["vllm", { configured: thinks }, /^did not think in 32 tokens.*: --reasoning-parser PARSER$/],
  [
    "vllm",
    { model: { thinking: { mode: "default_on", shown: "tags" } }, configured: thinks },
    /^leaves thinking in the text.*: --reasoning-parser PARSER$/,
  ],
])("%s with %j is told of", async (dialect, options, message) => {
  const { remarks } = await inspect(dialect, options);
  expect(remarks.map((remark) => remark.message)).toContainEqual(expect.stringMatching(message));
});

test("TEI tells its limits, and that it cuts what others send", async () => {
  const model = { kind: "embedding" } as const;
  const { version, facts, remarks } = await inspect("tei", { model, configured: model, capacity: 17 });
  expect(version).toBe("1.9.3");
  expect(facts).toMatchObject({ "input length": 4096, "inputs a call": 32, "auto truncate": true });
  expect(remarks.map(({ message }) => message)).toEqual([
    expect.stringMatching(/--auto-truncate false/),
    expect.stringMatching(/^refuses more than 512 inputs at once, and capacity: 17 may send 544: set capacity: 16/),
  ]);
});

test("an embedding model is not asked to chat", async () => {
  const model = { kind: "embedding" } as const;
  const { remarks, facts } = await inspect("vllm", { model, configured: model });
  expect(remarks).toEqual([]);
  expect(facts).not.toHaveProperty("counts");
});

test.each([
  ["0.12.5", true],
  ["0.9.12", true],
  ["0.12.6", false],
  ["0.12.6-rc0", false],
  ["0.33.0", false],
  ["1.0.0", false],
  ["0.0.0", false], // built by somebody
  ["main", false],
])("Ollama %s cuts prompts: %s", async (version, cuts) => {
  await using server = await scriptedServer({
    "/api/version": (_, response) => json(response, { version }),
    "/api/show": (_, response) => json(response, { capabilities: ["completion", "tools"], model_info: {} }),
  });
  const { remarks } = await inspectUrl(server.url, "ollama");
  expect(remarks.filter(({ status }) => status === "wrong")).toHaveLength(cuts ? 1 : 0);
});

test("SGLang that cuts what is too long is wrong, and its older endpoint is known", async () => {
  await using server = await scriptedServer({
    "/get_server_info": (_, response) => json(response, { version: "0.4.1", allow_auto_truncate: true }),
  });
  const { version, remarks } = await inspectUrl(server.url, "sglang", { kind: "embedding" });
  expect(version).toBe("0.4.1");
  expect(remarks).toEqual([{ status: "wrong", message: expect.stringContaining("--allow-auto-truncate") }]);
});

/** A chunk with a piece of an answer. */
const piece = (delta: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
});

/** A server that answers a chat with these deltas, whatever it is asked, as vLLM or another. */
const stubborn = (deltas: readonly object[]) => {
  const usage = { prompt_tokens: 90, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 80 } };
  const chunks = [...deltas.map((delta) => ({ ...piece(delta), usage })), { ...piece({}, "stop"), usage }];
  const stream = `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;
  return scriptedServer({
    "/version": (_, response) => json(response, { version: "0.9.0" }),
    "/metrics": (_, response) => void response.writeHead(200).end('vllm:num_requests_running{model_name="m"} 0\n'),
    "/v1/chat/completions": (_, response) => void response.writeHead(200).end(stream),
  });
};

test.each<[EngineName, "warning" | "wrong", RegExp]>([
  ["vllm", "wrong", /^ignores stop sequences, so that answers go on beyond them/],
  ["openai", "warning", /^ignores stop sequences: Tollgate breaks its answers off there/],
])("%s that ignores stop sequences is told of", async (engine, status, message) => {
  await using server = await stubborn([{ content: "It is said eighty times, " }, { content: "as you can count." }]);
  const { remarks, facts } = await inspectUrl(server.url, engine);
  expect(facts).toMatchObject({ stops: "ignored" });
  expect(remarks).toContainEqual({ status, message: expect.stringMatching(message) });
});

test("a server that stops at a sequence and leaves it in the text heeds it", async () => {
  const found = await inspect("openai");
  expect(found.facts).toMatchObject({ stops: "heeded" });
});

test.each([
  ["apart", [{ reasoning: "I ponder" }, { content: "words" }]],
  ["in the text", [{ content: "<think>I ponder</think>words" }]],
])("a server that thinks although it is told not to, %s, is wrong", async (_, deltas) => {
  await using server = await stubborn(deltas);
  const { remarks } = await inspectUrl(server.url, "vllm", thinks);
  expect(remarks).toContainEqual({
    status: "wrong",
    message: expect.stringMatching(/^thinks although it is told not/),
  });
});

test("a server whose template thinks nothing, in so many words, does not think", async () => {
  await using server = await stubborn([{ reasoning: "\n\n" }, { content: "<think>\n\n</think>\n\nwords" }]);
  const { remarks } = await inspectUrl(server.url, "openai", thinks);
  expect(remarks.map(({ message }) => message)).toEqual([expect.stringContaining("did not think in 32 tokens")]);
});

test("an engine that counts at the end only is wrong where it should count as it goes", async () => {
  const chunks = [
    { choices: [{ index: 0, delta: { content: "no" }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    { choices: [], usage: { prompt_tokens: 90, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 80 } } },
  ];
  const stream = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  await using server = await scriptedServer({
    "/version": (_, response) => json(response, { version: "0.4.0" }),
    "/metrics": (_, response) => void response.writeHead(200).end('vllm:num_requests_running{model_name="m"} 0\n'),
    "/v1/chat/completions": (_, response) => void response.writeHead(200).end(`${stream}data: [DONE]\n\n`),
  });
  const { remarks } = await inspectUrl(server.url, "vllm");
  expect(remarks).toEqual([{ status: "wrong", message: expect.stringContaining("billed too little") }]);
});
