import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Simulator, startSimulator } from "../../simulator/server.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { steadyClock } from "../support/clocks/steady-clock.ts";
import { eventually } from "../support/eventually.ts";
import { type Answer, ask, call, get, joined, post, stream } from "./client.ts";

let sim: Simulator;

beforeAll(async () => {
  sim = await startSimulator({
    speed: 0,
    models: ["plain", { id: "thinker", thinking: { mode: "always" } }, { id: "embedder", kind: "embedding" }],
  });
});
afterAll(() => sim.close());

const chat = "/v1/chat/completions";

test("gives the same bytes again, and other text for another seed", async () => {
  const text = async (more: object) => {
    const { body } = await call(sim, chat, ask("Again?", { model: "plain", ...more }));
    return body.choices[0].message.content;
  };
  expect(await text({ seed: 1 })).toBe(await text({ seed: 1 }));
  expect(await text({ seed: 1 })).not.toBe(await text({ seed: 2 }));
});

test("gives the same bytes whatever else runs, on another server, at another speed", async () => {
  const other = await startSimulator({ speed: 1000, models: ["plain"], clock: steadyClock });
  const alone = await startSimulator({ speed: 0, models: ["plain"], clock: steadyClock });
  const request = ask("Stream it", { model: "plain", stream: true, seed: 3 });
  const bytes = async (one: Simulator) => (await post(one, chat, request)).text();
  const crowd = Array.from({ length: 20 }, (_, at) => post(other, chat, ask(`Other ${at}`)));
  const [a, b] = [await bytes(other), await bytes(alone)];
  await Promise.all(crowd);
  expect(a).toBe(b);
  await Promise.all([other.close(), alone.close()]);
});

test("counts running usage up to the final count", async () => {
  const options = { stream_options: { include_usage: true, continuous_usage_stats: true } };
  const chunks = await stream(sim, chat, ask("[[sim:tokens=9]]", { model: "plain", ...options }));
  const counts = chunks.slice(0, -1).map((chunk) => chunk.usage.completion_tokens);
  expect(counts).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]);
});

test("sends no chunk for tokens that a parser holds back, unless ids are asked for", async () => {
  const request = ask("[[sim:think=2]] [[sim:text=ok]]", { model: "thinker" });
  const quiet = await stream(sim, chat, request);
  const loud = await stream(sim, chat, { ...request, return_token_ids: true });
  expect(quiet).toHaveLength(1 + 2 + 1 + 1 + 1); // role, thoughts, text, finish, [DONE]
  expect(loud.flatMap((chunk) => chunk.choices?.[0]?.token_ids ?? [])).toHaveLength(1 + 2 + 1 + 1 + 1); // with both tags
  expect(loud[0].prompt_token_ids).toHaveLength((await call(sim, "/tokenize", request)).body.count);
});

test("counts cached tokens of a shared prefix, apart for each salt", async () => {
  const cached = async (salt: string) => {
    const request = ask("a long shared prefix ".repeat(20), { model: "plain", cache_salt: salt });
    return (await call(sim, chat, request)).body.usage.prompt_tokens_details.cached_tokens;
  };
  expect([await cached("a"), await cached("b"), await cached("a")]).toEqual([0, 0, 80]);
});

test("embeds to unit length, alike when texts are alike", async () => {
  const input = ["the river runs to the sea", "the river runs to the lake", "invoices are due in March"];
  const { body } = await call(sim, "/v1/embeddings", { model: "embedder", input });
  const [a, b, c] = body.data.map(({ embedding }: Answer) => embedding);
  const dot = (x: number[], y: number[]) => x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
  expect(a).toHaveLength(1024);
  expect(dot(a, a)).toBeCloseTo(1, 4);
  expect(dot(a, b)).toBeGreaterThan(dot(a, c) + 0.3);
  expect(body.usage.prompt_tokens).toBe(6 + 6 + 6);
  const base64 = await call(sim, "/v1/embeddings", { model: "embedder", input: input[0], encoding_format: "base64" });
  const bytes = Buffer.from(base64.body.data[0].embedding, "base64");
  expect(Array.from(new Float32Array(bytes.buffer, bytes.byteOffset, 1024))).toEqual(a);
});

test("a reader that goes away frees the GPU", async () => {
  const slow = await startSimulator({ speed: 1, models: ["plain"], gpu: { stepBase: 20 } });
  const gone = new AbortController();
  const response = await fetch(slow.url + chat, {
    method: "POST",
    body: JSON.stringify(ask("[[sim:tokens=5000]]", { stream: true })),
    signal: gone.signal,
  });
  const reader = response.body?.getReader();
  await reader?.read();
  expect(slow.metrics()).toMatchObject({ running: 1, aborted: 0 });
  gone.abort();
  await reader?.closed.catch(() => {});
  await eventually("the engine is idle", () => slow.metrics().running === 0);
  expect(slow.metrics()).toMatchObject({ running: 0, aborted: 1, kvUsage: 0 });
  await slow.close();
});

test("refuses with 503 when its queue is full", async () => {
  const full = await startSimulator({
    models: ["plain"],
    gpu: { maxRunning: 1, maxWaiting: 1 },
    clock: new ManualClock(),
  });
  const busy = [0, 1].map(() => post(full, chat, ask("Hello")).catch(() => {}));
  await eventually("both have come", () => full.metrics().running + full.metrics().waiting === 2);
  expect((await call(full, chat, ask("Hello"))).status).toBe(503);
  await full.close();
  await Promise.all(busy);
});

test("refuses with 503 while it loads", async () => {
  const clock = new ManualClock();
  const loading = await startSimulator({ models: ["plain"], speed: 0, loading: 1000, clock });
  expect((await post(loading, chat, ask("Hello"))).status).toBe(503);
  expect((await fetch(`${loading.url}/health`)).status).toBe(503);
  clock.advance(1000);
  expect((await post(loading, chat, ask("Hello"))).status).toBe(200);
  await loading.close();
});

test("asks for its key where one is set", async () => {
  const locked = await startSimulator({ models: ["plain"], speed: 0, apiKey: "secret" });
  expect((await post(locked, chat, ask("Hello"))).status).toBe(401);
  expect((await post(locked, chat, ask("Hello"), { authorization: "Bearer secret" })).status).toBe(200);
  expect((await fetch(`${locked.url}/health`)).status).toBe(200);
  await locked.close();
});

test.each([
  ["not JSON", "{", 400],
  ["no object", "[]", 400],
  ["no messages", "{}", 400],
  ["no role", '{"messages":[{}]}', 400],
  ["an unknown role", '{"messages":[{"role":"developer","content":""}]}', 400],
  ["a late system message", '{"messages":[{"role":"user","content":""},{"role":"system","content":""}]}', 400],
  ["an image", '{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}', 400],
  ["no room for an answer", '{"messages":[{"role":"user","content":""}],"max_tokens":0}', 400],
  ["an embedding model", '{"model":"embedder","messages":[{"role":"user","content":""}]}', 400],
  ["an unknown model", '{"model":"other","messages":[{"role":"user","content":""}]}', 404],
])("answers %s with an error", async (_, body, status) => {
  const response = await fetch(sim.url + chat, { method: "POST", body });
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { message: expect.any(String), code: status } });
});

test("takes a system message anywhere if the model does", async () => {
  const messages = ["user", "system", "user"].map((role) => ({ role, content: "x" }));
  const easy = await startSimulator({ models: [{ id: "m", systemAnywhere: true }], speed: 0 });
  expect((await post(easy, chat, { messages })).status).toBe(200);
  await easy.close();
});

test("goes on with a text that the caller began", async () => {
  const messages = [
    { role: "user", content: "Write." },
    { role: "assistant", content: "Once upon" },
  ];
  const open = { model: "plain", messages, continue_final_message: true, add_generation_prompt: false };
  const { body } = await call(sim, "/tokenize", open);
  const ended = await call(sim, "/tokenize", { model: "plain", messages });
  expect(body.count).toBeLessThan(ended.body.count);
  expect((await call(sim, chat, open)).body.usage.prompt_tokens).toBe(body.count);
});

test("thinking in the history counts after the last question only", async () => {
  const count = async (messages: object[]) => (await call(sim, "/tokenize", { model: "thinker", messages })).body.count;
  const user = { role: "user", content: "Hi" };
  const answer = { role: "assistant", content: "Hello", reasoning: "a thought" };
  const bare = { role: "assistant", content: "Hello" };
  expect(await count([user, answer, user])).toBe(await count([user, bare, user]));
  expect(await count([user, answer])).toBeGreaterThan(await count([user, bare]));
  expect(await count([user, { ...bare, reasoning_content: "a thought" }])).toBe(await count([user, answer]));
});

test("answers text completions, whole and streamed", async () => {
  const request = { model: "plain", prompt: "Once upon a time" };
  const whole = await call(sim, "/v1/completions", request);
  const chunks = await stream(sim, "/v1/completions", { ...request, stream_options: { include_usage: true } });
  expect(chunks.map((chunk) => chunk.choices?.[0]?.text ?? "").join("")).toBe(whole.body.choices[0].text);
  expect(chunks.at(-2).usage).toEqual(whole.body.usage);
  expect((await post(sim, "/v1/completions", { model: "plain", prompt: "" })).status).toBe(400);
  const thinking = await call(sim, "/v1/completions", { model: "thinker", prompt: "Once" });
  expect(thinking.body.choices[0].text).toMatch(/^<think>\n[\s\S]*<\/think>/);
});

test("does not start when a context does not fit the memory", async () => {
  await expect(startSimulator({ models: ["m"], gpu: { kvTokens: 1600 } })).rejects.toThrow(/does not fit/);
  await expect(startSimulator({ models: ["m"], port: sim.port })).rejects.toThrow(/EADDRINUSE/);
});

test("lists its models, its version and its metrics", async () => {
  const { body } = await get(sim, "/v1/models");
  expect(body.data.map(({ id, max_model_len }: Answer) => [id, max_model_len])).toEqual([
    ["plain", 32_768],
    ["thinker", 32_768],
    ["embedder", 8192],
  ]);
  expect((await get(sim, "/version")).body.version).toMatch(/^\d/);
  const metrics = await (await fetch(`${sim.url}/metrics`)).text();
  expect(metrics).toMatch(/^vllm:num_requests_running\{model_name="plain"\} 0$/m);
  expect(metrics).toMatch(/^vllm:request_success_total\{model_name="plain",finished_reason="abort"\} 0$/m);
  expect(joined(await stream(sim, chat, ask("x", { model: "plain" })), "content")).not.toBe("");
});
