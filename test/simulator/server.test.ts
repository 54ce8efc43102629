import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Simulator, startSimulator } from "../../src/simulator/server.ts";
import { type Answer, ask, events, joined, post } from "./client.ts";

let sim: Simulator;

beforeAll(async () => {
  sim = await startSimulator({
    speed: 0,
    models: ["plain", { id: "thinker", thinking: { mode: "always" } }, { id: "embedder", kind: "embedding" }],
  });
});
afterAll(() => sim.close());

const json = (response: Response): Promise<Answer> => response.json();

test("streams what it answers whole, with the same counts", async () => {
  const request = ask("Tell me about rivers.", { model: "plain" });
  const whole = await json(await post(sim, "/v1/chat/completions", request));
  const stream = await events(
    await post(sim, "/v1/chat/completions", { ...request, stream: true, stream_options: { include_usage: true } }),
  );
  expect(stream.at(-1)).toBe("[DONE]");
  expect(joined(stream, "content")).toBe(whole.choices[0].message.content);
  expect(stream.at(-2).usage.completion_tokens).toBe(whole.usage.completion_tokens);
});

test("gives the same bytes again, and other text for another seed", async () => {
  const text = async (more: object) => {
    const answer = await json(await post(sim, "/v1/chat/completions", ask("Again?", { model: "plain", ...more })));
    return answer.choices[0].message.content;
  };
  expect(await text({ seed: 1 })).toBe(await text({ seed: 1 }));
  expect(await text({ seed: 1 })).not.toBe(await text({ seed: 2 }));
});

test("thinks in a field of its own", async () => {
  const answer = await json(await post(sim, "/v1/chat/completions", ask("Hm? [[sim:think=5]]", { model: "thinker" })));
  expect(answer.choices[0].message.reasoning).not.toBe("");
  expect(answer.usage.completion_tokens_details).toEqual({ reasoning_tokens: 5 });
});

test("counts running usage up to the final count", async () => {
  const stream = await events(
    await post(sim, "/v1/chat/completions", {
      ...ask("[[sim:tokens=9]]", { model: "plain" }),
      stream: true,
      stream_options: { include_usage: true, continuous_usage_stats: true },
    }),
  );
  const counts = stream.slice(0, -1).map((chunk) => chunk.usage.completion_tokens);
  expect(counts).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]);
});

test("counts with /tokenize what it bills", async () => {
  const request = ask("Wie spät ist es, 東京? 👋", { model: "plain" });
  const { count } = await json(await post(sim, "/tokenize", request));
  const { usage } = await json(await post(sim, "/v1/chat/completions", request));
  expect(usage.prompt_tokens).toBe(count);
});

test("embeds to unit length, alike when texts are alike", async () => {
  const { data, usage } = await json(
    await post(sim, "/v1/embeddings", {
      model: "embedder",
      input: ["the river runs to the sea", "the river runs to the lake", "invoices are due in March"],
    }),
  );
  const [a, b, c] = data.map(({ embedding }: Answer) => embedding);
  const dot = (x: number[], y: number[]) => x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
  expect(a).toHaveLength(1024);
  expect(dot(a, a)).toBeCloseTo(1, 4);
  expect(dot(a, b)).toBeGreaterThan(dot(a, c) + 0.3);
  expect(usage.prompt_tokens).toBe(6 + 6 + 6);
});
