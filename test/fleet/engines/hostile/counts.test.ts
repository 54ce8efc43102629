import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { BreakerState, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { eventually } from "../../../support/eventually.ts";
import { chatRequest } from "../requests.ts";
import { type HostileFleet, startHostileFleet } from "./hostile-fleet.ts";
import { answerChunks, embedders, embeddingsAnswer, generators, textChunk } from "./hostile-server.ts";

// Servers that count what cannot be true, over the real wire of every engine.

/** What a template may add, and "hi" with one turn. */
const believable = 4096 + 64 + 2;

describe.each(generators)("%s", (engine) => {
  let hostile: HostileFleet;
  beforeEach(async () => {
    hostile = await startHostileFleet(engine);
  });
  afterEach(async () => hostile[Symbol.asyncDispose]());

  const say = (input: unknown, output: unknown) => {
    hostile.server.chunks = answerChunks(engine, "abc", input, output);
  };
  const breaker = () => hostile.fleet.servers()[0]?.breaker;

  test.each<[string, unknown, unknown, number, number]>([
    ["a prompt of a hundred million tokens", 1e8, 3, believable, 3],
    ["four billion tokens of output", 7, 4e9, 7, 5],
    ["both", 3e9, 3e9, believable, 5],
    ["a prompt beyond every integer", 1e300, 3, believable, 3],
    ["output beyond every integer", 7, 1e300, 7, 5],
  ])("%s is charged at most as what can be, and the server is left alone", async (_, input, output, paid, produced) => {
    say(input, output);
    const { last, error } = await hostile.run({ maxOutputTokens: 5 });
    expect(error).toBeUndefined();
    expect(last?.finish).toBe(FinishReason.STOP);
    expect(last?.usage?.inputTokens).toBe(paid);
    expect(last?.usage?.outputTokens).toBeGreaterThanOrEqual(produced);
    expect(last?.usage?.outputTokens).toBeLessThanOrEqual(produced === 5 ? 5 + 3 : produced); // "abc" came beyond it
    expect(hostile.caught).toHaveLength(1);
    expect(hostile.logged).toContainEqual(
      expect.objectContaining({ message: "server said what cannot be true", request: "req-1" }),
    );
    expect(breaker()).toBe(BreakerState.OPEN);
  });

  test.each<[string, unknown, unknown]>([
    ["a negative prompt", -5, 3],
    ["negative output", 7, -3],
    ["half a token", 7, 2.5],
    ["a prompt in words", "7", 3],
    ["output in words", 7, "3"],
    ["a list", [7], [3]],
    ["an object that is no number", { toString: 1, valueOf: 1 }, 3],
    ["a yes", true, true],
  ])("%s is no count, and never a free or a dear answer", async (_, input, output) => {
    say(input, output);
    const { last, error } = await hostile.run({ maxOutputTokens: 5 });
    expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
    for (const count of Object.values(last?.usage ?? {})) {
      expect(Number.isInteger(Number(count))).toBe(true);
      expect(Number(count)).toBeLessThanOrEqual(believable);
    }
    if (engine !== "llama.cpp") {
      expect(hostile.caught).toHaveLength(1); // its counts are added up first
    }
  });

  test("a liar is tried again after a while, and trusted again when it is honest to the end", async () => {
    say(1e8, 3);
    await hostile.run();
    expect(breaker()).toBe(BreakerState.OPEN);
    hostile.clock.advance(5000);
    expect(breaker()).toBe(BreakerState.HALF_OPEN);
    await hostile.run();
    expect(breaker()).toBe(BreakerState.OPEN);
    expect(hostile.caught).toHaveLength(2);
    hostile.clock.advance(5000);
    say(7, 3);
    expect((await hostile.run()).error).toBeUndefined();
    expect(breaker()).toBe(BreakerState.CLOSED);
  });

  test.each<[string, number, number, string]>([
    ["a template of three thousand tokens", 3000, 3, "hi"],
    ["a token for every byte", 4000 + 4096, 3, "字".repeat(1333)],
    ["all that was asked for", 7, 1000, "hi"],
  ])("%s is believed", async (_, input, output, prompt) => {
    say(input, output);
    const { last } = await hostile.run({ ...chatRequest(prompt), maxOutputTokens: 1000 });
    expect(last?.usage).toMatchObject({ inputTokens: input, outputTokens: output });
    expect(hostile.caught).toEqual([]);
    expect(breaker()).toBe(BreakerState.CLOSED);
  });

  test("reasoning and cached tokens are never more than those that they are part of", async () => {
    if (engine === "ollama" || engine === "llama.cpp") {
      return; // have no such fields
    }
    const details = {
      completion_tokens_details: { reasoning_tokens: 1e9 },
      prompt_tokens_details: { cached_tokens: 1e9 },
    };
    hostile.server.chunks = [
      textChunk(engine, "abc"),
      {
        choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
        usage: { prompt_tokens: 1e8, completion_tokens: 1e9, ...details },
      },
    ];
    const { last } = await hostile.run({ maxOutputTokens: 5 });
    const { inputTokens, outputTokens = 0, reasoningTokens, cachedInputTokens } = last?.usage ?? {};
    expect([inputTokens, cachedInputTokens]).toEqual([believable, believable]);
    expect(reasoningTokens).toBe(outputTokens);
    expect(outputTokens).toBeLessThanOrEqual(5 + 3);
  });

  test("more text than the tokens can be is broken off, and paid for as counted", async () => {
    const flood = Array.from({ length: 100 }, () => textChunk(engine, "word ".repeat(2000)));
    hostile.server.chunks = [...flood, ...answerChunks(engine, "abc", 7, 5)];
    const { outputs, error } = await hostile.run({ maxOutputTokens: 5 });
    expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
    const shown = outputs
      .flatMap(({ events }) => events)
      .reduce((sum, { event }) => sum + String(event.value).length, 0);
    expect(shown).toBeLessThanOrEqual(16_384 + 5 * 256);
    for (const { usage } of outputs) {
      expect(usage?.outputTokens ?? 0).toBeLessThanOrEqual(5);
    }
    expect(hostile.caught).toHaveLength(1);
    expect(breaker()).toBe(BreakerState.OPEN);
  });
});

describe.each(embedders)("%s embeds", (engine) => {
  let hostile: HostileFleet;
  beforeEach(async () => {
    hostile = await startHostileFleet(engine, { kind: "embedding", context_length: 8192, dimensions: 4 });
    await eventually("the server is healthy", () => hostile.fleet.servers()[0]?.state === ServerState.HEALTHY);
  });
  afterEach(async () => hostile[Symbol.asyncDispose]());

  function say(count: unknown, vectors: number): void {
    hostile.server.eachCount = typeof count === "number" ? count / vectors : undefined;
    const headers: Record<string, string> = engine === "tei" ? { "x-compute-tokens": String(count) } : {};
    const body = JSON.stringify(embeddingsAnswer(engine, count, vectors));
    for (const path of ["/v1/embeddings", "/api/embed", "/embed"]) {
      hostile.server.answers[path] = (response) => {
        response.writeHead(200, { "content-type": "application/json", ...headers }).end(body);
      };
    }
  }

  test("a count beyond the inputs is charged as the most that they can be", async () => {
    say(1e8, 2);
    expect(await hostile.embed(["one", "three"])).toBe(3 + 256 + 5 + 256);
    expect(hostile.caught).toHaveLength(1);
    expect(hostile.fleet.servers()[0]?.breaker).toBe(BreakerState.OPEN);
    hostile.clock.advance(5000);
    say(8, 2);
    expect(await hostile.embed(["one", "three"])).toBe(8);
    expect(hostile.fleet.servers()[0]?.breaker).toBe(BreakerState.CLOSED);
  });

  test.each([0, -3, 2.5, "3", [3], null, true, { valueOf: 1, toString: 1 }])("%j is no count", async (count) => {
    if (engine === "tei" && typeof count === "object" && count !== null && !Array.isArray(count)) {
      return; // no header
    }
    if (engine === "tei-grpc" && count !== 0) {
      return; // no uint32
    }
    if (engine === "tei" && (count === "3" || Array.isArray(count))) {
      return; // as the number, in a header
    }
    say(count, 1);
    const error = await hostile.embed(["one"]).catch((thrown) => thrown);
    expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
  });
});

describe("a tokenizer", () => {
  let hostile: HostileFleet;
  beforeEach(async () => {
    hostile = await startHostileFleet("vllm");
  });
  afterEach(async () => hostile[Symbol.asyncDispose]());

  const say = (count: string) => {
    hostile.server.answers["/tokenize"] = (response) => void response.end(`{"count":${count}}`);
  };

  test.each(["-5", "2.5", "1e300", "100000000"])("that counts %s is not believed", async (count) => {
    say(count);
    expect(await hostile.count("hello")).toBeUndefined();
    expect(hostile.caught).toHaveLength(1);
    expect(hostile.fleet.servers()[0]?.breaker).toBe(BreakerState.OPEN);
  });

  test.each(['"5"', "null", "{}", "0", "true"])("that counts %s cannot tell", async (count) => {
    say(count);
    expect(await hostile.count("hello")).toBeUndefined();
    expect(hostile.caught).toEqual([]);
  });

  test("that counts what can be is believed", async () => {
    say("5");
    expect(await hostile.count("hello")).toBe(5);
  });
});

test("a model whose template adds more says so, and its counts are believed", async () => {
  await using hostile = await startHostileFleet("vllm", { template_tokens: 20_000 });
  hostile.server.chunks = answerChunks("vllm", "abc", 19_000, 3);
  expect((await hostile.run()).last?.usage?.inputTokens).toBe(19_000);
  expect(hostile.caught).toEqual([]);
});
