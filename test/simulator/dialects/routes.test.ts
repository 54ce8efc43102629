import { expect, test } from "@jest/globals";
import { type DialectName, dialectNames } from "../../../simulator/options.ts";
import { startSimulator } from "../../../simulator/server.ts";
import { ask, call, get } from "../client.ts";

const question = ask("How many tokens is this?");

test.each<[DialectName, string, object, string]>([
  ["vllm", "/tokenize", question, "count"],
  ["sglang", "/tokenize", question, "count"],
  ["llama.cpp", "/v1/chat/completions/input_tokens", question, "input_tokens"],
])("%s counts with %s what it bills", async (dialect, path, body, field) => {
  const sim = await startSimulator({ dialect, models: ["m"], speed: 0 });
  const counted = await call(sim, path, body);
  const answer = await call(sim, "/v1/chat/completions", question);
  expect(counted.body[field]).toBe(answer.body.usage.prompt_tokens);
  await sim.close();
});

test.each<[DialectName, string, object, (body: { tokens: number[] }) => number]>([
  ["vllm", "/tokenize", { prompt: "one two" }, ({ tokens }) => tokens.length],
  ["sglang", "/tokenize", { prompt: "one two" }, ({ tokens }) => tokens.length],
  ["llama.cpp", "/tokenize", { content: "one two" }, ({ tokens }) => tokens.length],
  ["trtllm", "/_internal/tokenize", { prompt: "one two" }, ({ tokens }) => tokens.length],
])("%s counts plain text at %s", async (dialect, path, body, count) => {
  const sim = await startSimulator({ dialect, models: ["m"], speed: 0 });
  expect(count((await call(sim, path, body)).body)).toBe(2);
  await sim.close();
});

test.each<[DialectName, string, RegExp]>([
  ["vllm", "/metrics", /^vllm:kv_cache_usage_perc\{model_name="m"\} 0$/m],
  [
    "vllm",
    "/metrics",
    /^vllm:cache_config_info\{block_size="16",enable_prefix_caching="True",num_gpu_blocks="32768"\} 1$/m,
  ],
  ["sglang", "/metrics", /^sglang:num_running_reqs\{model_name="m"\} 0$/m],
  ["llama.cpp", "/metrics", /^llamacpp:requests_processing\{model="m"\} 0$/m],
  ["trtllm", "/prometheus/metrics", /^trtllm_kv_cache_max_blocks\{model_name="m"\} 32768$/m],
  ["tei", "/metrics", /^te_queue_size\{model="m"\} 0$/m],
])("%s publishes its metrics at %s", async (dialect, path, line) => {
  const sim = await startSimulator({ dialect, models: ["m"], speed: 0 });
  expect(await (await fetch(sim.url + path)).text()).toMatch(line);
  await sim.close();
});

test.each(dialectNames.filter((name) => name !== "openai"))("%s answers its health path", async (dialect) => {
  const sim = await startSimulator({ dialect, models: ["m"], speed: 0 });
  const path = dialect === "ollama" ? "/api/version" : "/health";
  expect((await fetch(sim.url + path)).status).toBe(200);
  await sim.close();
});

test("llama-server tells its context and slots", async () => {
  const sim = await startSimulator({ dialect: "llama.cpp", models: ["m"], speed: 0 });
  expect((await get(sim, "/props")).body).toMatchObject({
    default_generation_settings: { n_ctx: 32_768 },
    total_slots: 256,
  });
  await sim.close();
});
