import { create } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { SamplingSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail, readTokenBound } from "#lib/errors/detail.ts";
import { systemClock } from "#lib/time/clock.ts";
import { configSchema } from "#src/config/schema.ts";
import { createEngine } from "#src/fleet/engines/drivers/create-engine.ts";
import type {
  Engine,
  EngineFault,
  EngineOutput,
  EngineRequest,
  EngineUsage,
  ThinkingRecipe,
} from "#src/fleet/engines/interface.ts";
import type { DialectName } from "../../../simulator/options.ts";
import { type Simulator, startSimulator } from "../../../simulator/server.ts";
import { eventually } from "../../support/eventually.ts";
import { drain } from "./collect.ts";
import { chatRequest, textRequest } from "./requests.ts";

/** What an engine can do beyond what all can. */
interface Abilities {
  readonly dialect: DialectName;
  /** Whether it streams in server-sent events, among which there may be comments. */
  readonly sse: boolean;
  readonly completions: boolean;
  readonly tools: boolean;
  /** Whether it tells the exact number of prompt tokens in advance. */
  readonly tokenizes: boolean;
  /** Whether it publishes its load. */
  readonly metrics: boolean;
  /** Whether it counts as it goes; else a broken-off answer has a lower bound. */
  readonly exact: boolean;
  /** Whether it tells the tokens of thinking, and of the prompt those from its cache. */
  readonly reasoningTokens: boolean;
  readonly cachedTokens: boolean;
}

const all = {
  sse: true,
  completions: true,
  tools: true,
  tokenizes: true,
  metrics: true,
  exact: true,
  reasoningTokens: true,
  cachedTokens: true,
};
const engines: readonly Abilities[] = [
  { ...all, dialect: "vllm" },
  { ...all, dialect: "sglang" },
  { ...all, dialect: "llama.cpp", reasoningTokens: false },
  { ...all, dialect: "trtllm", tokenizes: false, reasoningTokens: false },
  { ...all, dialect: "openai", tokenizes: false, metrics: false, exact: false },
  {
    dialect: "ollama",
    sse: false,
    completions: false,
    tools: true,
    tokenizes: false,
    metrics: false,
    exact: false,
    reasoningTokens: false,
    cachedTokens: false,
  },
];

const signal = new AbortController().signal;
const never = () => new AbortController().signal;
const contextLength = 4096;

const thinkers = (["always", "default_off", "default_on"] as const).flatMap((mode) =>
  (["field", "tags", "closing-tag"] as const).map((shown) => ({ id: `${mode}-${shown}`, mode, shown })),
);

describe.each(engines)("$dialect", (abilities) => {
  const { dialect, sse, completions, tools, tokenizes, metrics, exact, reasoningTokens, cachedTokens } = abilities;
  let sim: Simulator;
  let engine: Engine;
  let slow: Simulator;
  let slowEngine: Engine;

  beforeAll(async () => {
    const models = [
      { id: "m", contextLength },
      ...thinkers.map(({ id, mode, shown }) => ({ id, thinking: { mode, shown, depths: true } })),
    ];
    sim = await startSimulator({ dialect, speed: 0, models });
    slow = await startSimulator({ dialect, speed: 1, models: [{ id: "m", contextLength }] });
    engine = connect(sim.url, dialect);
    slowEngine = connect(slow.url, dialect);
  });
  afterEach(() => {
    sim.faults.clear();
    slow.faults.clear();
  });
  afterAll(async () => {
    await Promise.all([engine.close(), slowEngine.close()]);
    await Promise.all([sim.close(), slow.close()]);
  });

  const generate = (request: EngineRequest) => drain(engine.generate(request, never()));

  test("answers, counting as it goes", async () => {
    const before = sim.metrics("m").generatedTokens;
    const { outputs, answer, error } = await generate(chatRequest("Tell me about rivers."));
    expect(error).toBeUndefined();
    expect(answer.text.length).toBeGreaterThan(10);
    expect(answer.reasoning).toBe("");
    const last = outputs.at(-1);
    expect(last?.finish).toBe(FinishReason.STOP);
    expect(last?.usage?.outputTokens).toBe(sim.metrics("m").generatedTokens - before);
    expect(last?.usage?.inputTokens).toBeGreaterThan(0);
    expect(outputs.slice(0, -1).every((output) => output.finish === undefined)).toBe(true);
  });

  test("answers and counts the same where nobody reads the answer before it is complete", async () => {
    const request = chatRequest("Tell me about rivers.", { sampling: create(SamplingSchema, { seed: 7n }) });
    const read = await generate(request);
    const gathered = await drain(slowEngine.generate({ ...request, gathered: true }, never()));
    expect(gathered.error).toBeUndefined();
    expect(gathered.answer).toEqual(read.answer);
    const [last, lastRead] = [gathered.outputs.at(-1), read.outputs.at(-1)];
    expect(last?.finish).toBe(lastRead?.finish);
    expect(last?.usage?.outputTokens).toBe(lastRead?.usage?.outputTokens);
  });

  test("stops at the limit", async () => {
    const { outputs } = await generate(chatRequest("[[sim:tokens=50]]", { maxOutputTokens: 5 }));
    expect(outputs.at(-1)).toMatchObject({ finish: FinishReason.LENGTH, usage: { outputTokens: 5 } });
  });

  test("stops at a stop sequence, which is not part of the answer", async () => {
    const { outputs, answer } = await generate(
      chatRequest("[[sim:text=one two three]]", { stopSequences: [" three"] }),
    );
    expect(answer.text.trimEnd()).toBe("one two");
    expect(outputs.at(-1)?.finish).toBe(FinishReason.STOP);
  });

  test("answers the same for the same seed", async () => {
    const request = chatRequest("hi", { sampling: create(SamplingSchema, { seed: 7n }) });
    const [first, second] = [await generate(request), await generate(request)];
    expect(first.answer).toEqual(second.answer);
    const other = await generate({ ...request, sampling: create(SamplingSchema, { seed: 8n }) });
    expect(other.answer).not.toEqual(first.answer);
  });

  test.each(thinkers)("thinks apart from the answer: $id", async ({ id, mode }) => {
    const recipe: ThinkingRecipe = { mode, depths: true, switch: "chat_template_kwargs" };
    const thinker = connect(sim.url, dialect);
    const ask = (enabled: boolean, deepest = false) => {
      const request = chatRequest("[[sim:text=Hello.]]", { model: id, recipe, thinking: { enabled, deepest } });
      return drain(thinker.generate(request, never()));
    };
    const on = await ask(true);
    expect(on.answer.reasoning).toContain("thinking");
    expect(on.answer.text.trim()).toBe("Hello.");
    expect(on.answer.reasoning).not.toContain("think>");
    const deep = await ask(true, true);
    expect(deep.answer.reasoning.length).toBeGreaterThan(on.answer.reasoning.length);
    if (mode !== "always") {
      expect((await ask(false)).answer).toEqual({ reasoning: "", text: "Hello.", calls: [] });
    }
    await thinker.close();
  });

  if (tools) {
    test("calls tools", async () => {
      const parametersJson = '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}';
      const { outputs, answer } = await generate(
        chatRequest({
          messages: [{ role: Role.USER, text: "What is the weather in Oslo? [[sim:call=weather]]" }],
          tools: [{ name: "weather", description: "Tells the weather.", parametersJson }],
        }),
      );
      expect(answer.calls).toEqual([{ id: expect.any(String), name: "weather", arguments: expect.any(String) }]);
      expect(JSON.parse(answer.calls[0]?.arguments ?? "")).toHaveProperty("city");
      expect(outputs.at(-1)?.finish).toBe(FinishReason.TOOL_CALLS);
    });

    test("reads the results of tools", async () => {
      const { answer } = await generate(
        chatRequest({
          messages: [
            { role: Role.USER, text: "weather?" },
            { role: Role.ASSISTANT, toolCalls: [{ id: "call_1", name: "weather", argumentsJson: "{}" }] },
            { role: Role.TOOL, toolCallId: "call_1", text: "rain" },
          ],
          tools: [{ name: "weather" }],
        }),
      );
      expect(answer.text).toContain("rain");
    });
  }

  if (completions) {
    test("continues a text", async () => {
      const { answer, outputs } = await generate(textRequest("Once upon a time"));
      expect(answer.text.length).toBeGreaterThan(0);
      expect(outputs.at(-1)?.finish).toBe(FinishReason.STOP);
    });
  }

  test("takes system messages anywhere", async () => {
    const { error } = await generate(
      chatRequest({
        messages: [
          { role: Role.SYSTEM, text: "a" },
          { role: Role.SYSTEM, text: "b" },
          { role: Role.USER, text: "c" },
          { role: Role.SYSTEM, text: "d" },
          { role: Role.ASSISTANT, text: "e" },
          { role: Role.USER, text: "f" },
        ],
      }),
    );
    expect(error).toBeUndefined();
  });

  test("refuses a prompt that does not fit", async () => {
    const { outputs, error } = await generate(chatRequest("word ".repeat(contextLength + 10), { maxOutputTokens: 10 }));
    expect(outputs).toEqual([]);
    const detail = readDetail(error);
    expect(detail).toMatchObject({ reason: Reason.CONTEXT_LENGTH_EXCEEDED });
    expect([undefined, BigInt(contextLength)]).toContain(detail && readTokenBound(detail).limit);
  });

  if (dialect !== "vllm") {
    // vLLM does not tell how long a prompt is that it refuses, but counts it beforehand.
    test("lets a prompt pass with as much output as the context has, or tells what would fit", async () => {
      const all = await generate(chatRequest("hi", { maxOutputTokens: contextLength }));
      const told = all.error === undefined ? undefined : readDetail(all.error);
      const { limit = 0n, actual = 0n } = told === undefined ? {} : readTokenBound(told);
      expect(told?.reason).toBe(told && Reason.CONTEXT_LENGTH_EXCEEDED);
      const fitting = told && (await generate(chatRequest("hi", { maxOutputTokens: Number(limit - actual) - 128 })));
      expect((fitting ?? all).outputs.at(-1)?.finish).toBe(FinishReason.STOP);
    });
  }

  if (tokenizes) {
    test("counts a prompt as a generation does", async () => {
      const request = chatRequest({
        messages: [
          { role: Role.SYSTEM, text: "be kind" },
          { role: Role.USER, text: "Tell me about rivers." },
        ],
      });
      const { outputs } = await generate(request);
      expect(await engine.countTokens(request, signal)).toBe(outputs.at(-1)?.usage?.inputTokens);
    });
  }

  test("lists its models", async () => {
    const models = await engine.listModels(signal);
    expect(models.map(({ id }) => id)).toContain("m");
    expect([undefined, contextLength]).toContain(models.find(({ id }) => id === "m")?.contextLength);
  });

  test("is healthy while it runs", async () => {
    await engine.checkHealth(signal);
    const gone = await startSimulator({ dialect, models: ["m"] });
    const other = connect(gone.url, dialect);
    await gone.close();
    await expect(other.checkHealth(signal)).rejects.toMatchObject({ cause: { transient: true } });
    await other.close();
  });

  if (metrics) {
    test("tells its load", async () => {
      const kv = dialect === "trtllm" ? {} : { kvTokens: expect.any(Number) };
      expect(await engine.readLoad(signal)).toMatchObject({ running: 0, waiting: 0, ...kv });
    });
  }

  test.each<[string, (controller: AbortController, stream: AsyncIterator<unknown>) => void]>([
    ["an aborted signal", (controller) => controller.abort(new Error("client gone"))],
    ["a reader that leaves", (_, stream) => void stream.return?.()],
  ])("%s stops the engine", async (_, stop) => {
    const controller = new AbortController();
    const request = chatRequest("[[sim:tokens=2000]]", { maxOutputTokens: 2000 });
    const stream = slowEngine.generate(request, controller.signal)[Symbol.asyncIterator]();
    await stream.next();
    expect(slow.metrics().running).toBe(1);
    const { aborted } = slow.metrics();
    stop(controller, stream);
    await eventually("the engine is idle", () => slow.metrics().running === 0);
    expect(slow.metrics().aborted).toBe(aborted + 1);
  });

  test.each([
    ["text", "[[sim:text=one two three four five six seven eight nine ten]]"],
    ["a tool call", "[[sim:tool=weather]]"],
  ])("what broke off within %s is billed as it was counted", async (_, question) => {
    const stall = 6;
    sim.faults.add({ stall });
    const before = sim.metrics("m").generatedTokens;
    const controller = new AbortController();
    const tool = { name: "weather", parametersJson: '{"type":"object","properties":{"city":{"type":"string"}}}' };
    const request = chatRequest({ messages: [{ role: Role.USER, text: question }], tools: [tool] });
    const outputs: EngineOutput[] = [];
    const reading = (async () => {
      for await (const output of engine.generate(request, controller.signal)) {
        outputs.push(output);
      }
    })();
    await eventually("the engine stalls", () => sim.metrics("m").generatedTokens - before === stall);
    const counted = () => outputs.at(-1)?.usage?.outputTokens ?? 0;
    if (exact) {
      await eventually("all tokens are counted", () => counted() === stall);
    }
    controller.abort(new Error("client gone"));
    await expect(reading).rejects.toThrow("client gone");
    expect(counted()).toBeLessThanOrEqual(stall);
    if (outputs.length > 0) {
      expect(outputs.at(-1)?.usage?.inputTokens).toBeGreaterThan(0);
    }
    await eventually("the engine is idle", () => sim.metrics("m").running === 0);
    expect(sim.metrics("m").generatedTokens - before).toBe(stall);
  });

  test("tells the tokens of thinking, and those from its cache", async () => {
    const recipe = { mode: "default_on", depths: true, switch: "chat_template_kwargs" } as const;
    const thinking = { enabled: true, deepest: false };
    const request = chatRequest(`A long question. ${"word ".repeat(100)}`, {
      model: "default_on-field",
      recipe,
      thinking,
    });
    await generate(request);
    const { outputs } = await generate(request);
    const told: EngineUsage = outputs.at(-1)?.usage ?? { inputTokens: 0, outputTokens: 0 };
    if (reasoningTokens) {
      expect(told.reasoningTokens).toBeGreaterThan(0);
    } else {
      expect(told.reasoningTokens).toBeUndefined();
    }
    if (cachedTokens) {
      expect(told.cachedInputTokens).toBeGreaterThan(0);
    } else {
      expect(told.cachedInputTokens).toBeUndefined();
    }
    expect(told.reasoningTokens ?? 0).toBeLessThan(told.outputTokens);
    expect(told.cachedInputTokens ?? 0).toBeLessThan(told.inputTokens);
  });

  test("an abort before the first output stops the engine", async () => {
    slow.faults.add({ latency: 50 });
    const controller = new AbortController();
    const result = drain(slowEngine.generate(chatRequest("hi"), controller.signal));
    controller.abort(new Error("client gone"));
    expect((await result).error).toEqual(new Error("client gone"));
  });

  describe("faults", () => {
    test.each([
      [500, Reason.ENGINE_FAILED],
      [502, Reason.ENGINE_FAILED],
      [503, Reason.OVERLOADED],
      [429, Reason.OVERLOADED],
    ])("status %d", async (status, reason) => {
      sim.faults.add({ status });
      const { outputs, error } = await generate(chatRequest("hi"));
      expect(outputs).toEqual([]);
      expect(readDetail(error)?.reason).toBe(reason);
      expect(((error as Error).cause as EngineFault).transient).toBe(true);
    });

    test.each(["reset", "cut", "error"] as const)("%s before the first token", async (fault) => {
      sim.faults.add({ [fault]: 0 });
      const { error } = await generate(chatRequest("[[sim:tokens=20]]"));
      expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
      expect(((error as Error).cause as EngineFault).transient).toBe(true);
    });

    test.each(["reset", "cut", "error"] as const)("%s in the middle fails after what was counted", async (fault) => {
      slow.faults.add({ [fault]: 10 });
      const request = chatRequest("[[sim:tokens=50]]");
      const { outputs, answer, error } = await drain(slowEngine.generate(request, never()));
      expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
      expect(outputs.at(-1)?.finish).toBeUndefined();
      if (fault === "reset") {
        return; // it may overtake what was sent before
      }
      expect(answer.text.length).toBeGreaterThan(0);
      expect(outputs.at(-1)?.usage?.outputTokens).toBeGreaterThan(0);
    });

    test.each(["missing", "zero"] as const)("a %s count is a failure", async (usage) => {
      sim.faults.add({ usage });
      const { error } = await generate(chatRequest("hi"));
      expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
    });

    test.each([{ done: "missing" }, { pings: true }, { split: 1 }, { split: 3, pings: true }] as const)(
      "%j changes nothing",
      async (fault) => {
        if ("pings" in fault && !sse) {
          return;
        }
        const request = chatRequest("[[sim:text=Grüße 😀 aus Köln.]]");
        const expected = await generate(request);
        sim.faults.add(fault);
        const { answer, error, outputs } = await generate(request);
        expect(error).toBeUndefined();
        expect(answer).toEqual(expected.answer);
        expect(outputs.at(-1)?.usage?.outputTokens).toBe(expected.outputs.at(-1)?.usage?.outputTokens);
      },
    );
  });
});

describe.each(["vllm", "sglang", "llama.cpp", "trtllm", "openai", "ollama", "tei"] as const)("%s embeds", (dialect) => {
  let sim: Simulator;
  let engine: Engine;

  beforeAll(async () => {
    sim = await startSimulator({ dialect, speed: 0, models: [{ id: "m", kind: "embedding", contextLength: 512 }] });
    engine = connect(sim.url, dialect, 512);
  });
  afterAll(async () => {
    await engine.close();
    await sim.close();
  });

  const embed = (inputs: string[]) => engine.embed({ runId: "run-1", model: "m", inputs }, never());

  test("in input order, however many", async () => {
    await engine.checkHealth(signal);
    const inputs = Array.from({ length: 300 }, (_, i) => `input ${i}`);
    const { vectors, inputTokens } = await embed(inputs);
    expect(vectors).toHaveLength(300);
    expect(inputTokens).toBeGreaterThanOrEqual(300);
    const [last] = (await embed(["input 299"])).vectors;
    expect(vectors[299]).toEqual(last);
    expect(last).toHaveLength(1024);
  });

  test("and names the input that is too long, never cutting it", async () => {
    const long = "word ".repeat(600);
    const error = await embed(["short", long, "short"]).catch((refusal) => refusal);
    expect(readDetail(error)).toMatchObject({
      reason: Reason.INPUT_TOO_LONG,
      parameter: "inputs[1]",
      bound: { case: "tokens", value: { limit: 512n } },
    });
  });

  test.each([
    [503, Reason.OVERLOADED],
    [429, Reason.OVERLOADED],
    [500, Reason.ENGINE_FAILED],
  ])("and understands status %d", async (status, reason) => {
    const path = { ollama: "/api/embed", tei: "/embed" }[dialect as string] ?? "/v1/embeddings";
    const heal = sim.faults.add({ status }, { path });
    const error = await embed(["a"]).catch((failure) => failure);
    heal();
    expect(readDetail(error)?.reason).toBe(reason);
  });
});

function connect(url: string, engine: DialectName, context_length = contextLength): Engine {
  const config = configSchema.parse({ models: [{ id: "m", context_length, servers: [{ url, engine }] }] });
  const [model] = config.models;
  const [server] = model?.servers ?? [];
  if (model === undefined || server === undefined) {
    throw new Error("the configuration lost its server");
  }
  return createEngine(server, model, config.fleet, systemClock);
}
