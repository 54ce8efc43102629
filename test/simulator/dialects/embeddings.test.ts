import { describe, expect, test } from "@jest/globals";
import type { DialectName, SimulatorOptions } from "../../../simulator/options.ts";
import { type Simulator, startSimulator } from "../../../simulator/server.ts";
import { type Answer, call, get, post } from "../client.ts";

const long = "word ".repeat(9000); // 9,001 tokens
const path = "/v1/embeddings";

async function served(options: Partial<SimulatorOptions>, use: (sim: Simulator) => Promise<void>): Promise<void> {
  const sim = await startSimulator({ models: [{ id: "e", kind: "embedding" }], speed: 0, ...options });
  try {
    await use(sim);
  } finally {
    await sim.close();
  }
}

describe("an input above 8,192 tokens", () => {
  test.each<[DialectName, number, RegExp]>([
    ["vllm", 400, /You passed 8193 input tokens.*context length is only 8192 tokens/],
    ["sglang", 400, /The input \(9001 tokens\) is longer than the model's context length \(8192 tokens\)/],
    ["llama.cpp", 500, /input \(9001 tokens\) is too large to process. increase the physical batch size/],
    ["openai", 400, /maximum context length is 8192 tokens/],
  ])("is refused by %s with %d", async (dialect, status, message) => {
    await served({ dialect }, async (sim) => {
      const answer = await call(sim, path, { input: ["short", long] });
      expect(answer.status).toBe(status);
      expect(answer.body.error?.message ?? answer.body.message).toMatch(message);
    });
  });

  test.each<DialectName>(["tei", "ollama"])("is cut by %s, which says nothing", async (dialect) => {
    await served({ dialect }, async (sim) => {
      const { status, body } = await call(sim, path, { input: long });
      expect(status).toBe(200);
      expect(body.usage.prompt_tokens).toBe(8192);
      const cut = await call(sim, path, { input: "word ".repeat(8192).trimEnd() });
      expect(cut.body.data[0].embedding).toEqual(body.data[0].embedding);
    });
  });

  test("is refused by TEI without --auto-truncate, on both routes", async () => {
    await served({ dialect: "tei", truncates: false }, async (sim) => {
      const message = "`inputs` must have less than 8192 tokens. Given: 9001";
      expect(await call(sim, path, { input: long })).toEqual({
        status: 422,
        body: { message, code: 422, type: "Validation" },
      });
      expect(await call(sim, "/embed", { inputs: long })).toEqual({
        status: 422,
        body: { error: message, error_type: "Validation" },
      });
    });
  });

  test("is refused where the request says so", async () => {
    await served({ dialect: "tei" }, async (sim) => {
      expect((await post(sim, "/embed", { inputs: long, truncate: false })).status).toBe(422);
    });
    await served({ dialect: "ollama" }, async (sim) => {
      const refusal = { status: 400, body: { error: "the input length exceeds the context length" } };
      expect(await call(sim, "/api/embed", { input: long, truncate: false })).toEqual(refusal);
    });
  });

  test("is cut by any engine under the fault", async () => {
    await served({ fault: { truncate: true } }, async (sim) => {
      const { status, body } = await call(sim, path, { input: long });
      expect([status, body.usage.prompt_tokens]).toEqual([200, 8192]);
    });
  });
});

test("TEI tells its limits, embeds by its own route and counts in a header", async () => {
  await served({ dialect: "tei" }, async (sim) => {
    expect((await get(sim, "/info")).body).toMatchObject({
      auto_truncate: true,
      max_input_length: 8192,
      max_client_batch_size: 32,
    });
    const response = await post(sim, "/embed", { inputs: ["one two", "three"] });
    expect(response.headers.get("x-compute-tokens")).toBe("3");
    expect((await response.json()) as Answer).toHaveLength(2);
    const tokens = await call(sim, "/tokenize", { inputs: "one two" });
    expect(tokens.body[0].map(({ text }: Answer) => text)).toEqual(["one", " two"]);
  });
});

test.each([
  [0, 400],
  [32, 200],
  [33, 422],
])("TEI answers %d inputs with %d", async (count, status) => {
  await served({ dialect: "tei" }, async (sim) => {
    expect((await post(sim, "/embed", { inputs: Array(count).fill("x") })).status).toBe(status);
  });
});

test("Ollama embeds by its own route", async () => {
  await served({ dialect: "ollama" }, async (sim) => {
    const { body } = await call(sim, "/api/embed", { model: "e", input: ["one two", "three"] });
    expect(body).toMatchObject({ model: "e", prompt_eval_count: 3 });
    expect(body.embeddings).toHaveLength(2);
    const { body: show } = await call(sim, "/api/show", { model: "e" });
    expect(show.model_info["simulated.context_length"]).toBe(8192);
  });
});

test("an empty input has a vector, and a token", async () => {
  await served({}, async (sim) => {
    const { body } = await call(sim, path, { input: ["", "x"] });
    expect(body.data).toHaveLength(2);
    expect(body.usage.prompt_tokens).toBe(2);
  });
});

test("work on vectors shows in the metrics", async () => {
  await served({}, async (sim) => {
    await call(sim, path, { input: ["one two", "three"] });
    expect(sim.metrics()).toMatchObject({ promptTokens: 3, generatedTokens: 0, finished: 2, running: 0 });
  });
});

test("a model that generates does not embed, and input has to be text", async () => {
  await served({ models: ["m", { id: "e", kind: "embedding" }] }, async (sim) => {
    expect((await post(sim, path, { model: "m", input: "x" })).status).toBe(400);
    for (const input of [undefined, [], [1, 2], [["x"]]]) {
      expect((await post(sim, path, { model: "e", input })).status).toBe(400);
    }
  });
});
