import { type AddressInfo, createServer, type Socket } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { SglangService } from "#gen/sglang/runtime/v1/sglang_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemClock } from "#lib/time/clock.ts";
import { configSchema } from "#src/config/schema.ts";
import { inspectServer } from "#src/fleet/engines/drivers/inspect-server.ts";
import { SglangGrpcEngine } from "#src/fleet/engines/sglang-grpc/engine.ts";
import type { ListeningServer } from "#src/wire/grpc/server/listening-server.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";
import { eventually } from "../../../support/eventually.ts";
import { drain } from "../collect.ts";
import { chatRequest, textRequest } from "../requests.ts";

const never = () => new AbortController().signal;
const settings = {
  connections: 4,
  clock: systemClock,
  connectTimeoutMs: 1000,
  silenceTimeoutMs: 10_000,
  kind: "generation" as const,
  capacity: 4,
  systemAnywhere: false,
  contextLength: 512,
};

let server: ListeningServer;
let engine: SglangGrpcEngine;
/** What a chat does: sends these chunks, then fails or goes silent where it is told to. */
let chunks: object[] = [];
let ending: ConnectError | "silence" | undefined;
// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into as they come
let received: { body: any; headers: Record<string, string> } | undefined;
let cancelled = 0;
let aborted: string[] = [];
let healthy = true;

const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const text = (content: string, tokens: number) => ({
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
  usage: { prompt_tokens: 5, completion_tokens: tokens },
});
const finish = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: null };
const total = {
  choices: [],
  usage: { prompt_tokens: 5, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 2 } },
};

/** A server after SGLang's entrypoints/grpc_bridge.py. */
beforeAll(async () => {
  async function* answer(call: { jsonBody: Uint8Array; traceHeaders: Record<string, string> }, signal: AbortSignal) {
    received = { body: JSON.parse(Buffer.from(call.jsonBody).toString()), headers: call.traceHeaders };
    for (const chunk of chunks) {
      yield { jsonChunk: json(chunk), finished: false };
    }
    if (ending instanceof ConnectError) {
      throw ending;
    }
    if (ending === "silence") {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      cancelled++;
      return;
    }
    yield { jsonChunk: Buffer.alloc(0), finished: true };
  }
  const service = registration(SglangService, {
    chatComplete: (call, { signal }) => answer(call, signal),
    complete: (call, { signal }) => answer(call, signal),
    openAIEmbed({ jsonBody }) {
      const { input } = JSON.parse(Buffer.from(jsonBody).toString());
      if (input.some((one: string) => one.length > 512)) {
        const message = "The input (600 tokens) is longer than the model's context length (512 tokens).";
        return { jsonBody: json({ object: "error", message, code: 400 }), statusCode: 400 };
      }
      const data = input.map((one: string, index: number) => ({ index, embedding: [one.length, 0] }));
      return { jsonBody: json({ data, usage: { prompt_tokens: input.length } }), statusCode: 200 };
    },
    tokenize: ({ text: value }) => ({ count: value.length }),
    healthCheck: () => ({ healthy }),
    getServerInfo: () => ({
      jsonInfo: JSON.stringify({ max_running_requests: 8, tool_call_parser: null, enable_metrics: true }),
    }),
    listModels: () => ({ models: [{ id: "qwen3", maxModelLen: 32768 }] }),
    getLoad: () => ({
      jsonInfo:
        '[{"dp_rank":0,"num_reqs":5,"num_waiting_reqs":2,"token_usage":0.5,"max_total_num_tokens":5000},{"num_reqs":1}]',
    }),
    abort({ rid }) {
      aborted.push(rid);
      return { success: true };
    },
  });
  server = await startGrpcServer({ address: "127.0.0.1:0", services: [service], interceptors: [] });
  engine = new SglangGrpcEngine(`grpc://${server.address}`, settings);
});
beforeEach(() => {
  chunks = [text("Hel", 1), text("lo", 2), finish, total];
  ending = undefined;
  cancelled = 0;
  aborted = [];
  healthy = true;
});
afterAll(async () => {
  await engine.close();
  await server.stop(0);
});

test("answers, with the engine's count", async () => {
  const { answer, outputs, error } = await drain(engine.generate(chatRequest("hi", { cacheSalt: "acc" }), never()));
  expect([answer.text, error]).toEqual(["Hello", undefined]);
  expect(outputs.at(-1)).toEqual({
    events: [],
    usage: { inputTokens: 5, outputTokens: 3, cachedInputTokens: 2 },
    finish: FinishReason.STOP,
  });
  expect(received?.body).toMatchObject({ rid: "run-1", cache_salt: "acc", stream: true });
  expect(received?.headers).toEqual({ "x-request-id": "run-1" });
  expect(aborted).toEqual([]);
});

test("continues a text", async () => {
  chunks = [{ choices: [{ index: 0, text: " time" }] }, finish, total];
  expect((await drain(engine.generate(textRequest("Once upon a"), never()))).answer.text).toBe(" time");
  expect(received?.body).toMatchObject({ prompt: "Once upon a" });
});

test.each(["signal", "reader"])("a %s that ends it stops the engine", async (who) => {
  ending = "silence";
  const controller = new AbortController();
  const stream = engine.generate(chatRequest("hi"), controller.signal)[Symbol.asyncIterator]();
  const { value } = await stream.next();
  expect(value.usage).toEqual({ inputTokens: 5, outputTokens: 1 }); // what is billed
  if (who === "signal") {
    controller.abort(new Error("client gone"));
    await expect(drainRest(stream)).rejects.toThrow("client gone");
  } else {
    void stream.return?.(undefined);
  }
  await eventually("the request is cancelled and aborted", () => cancelled === 1 && aborted.length === 1);
  expect(aborted).toEqual(["run-1"]);
});

async function drainRest(stream: AsyncIterator<unknown>): Promise<void> {
  while (!(await stream.next()).done) {}
}

test("a slow reader loses nothing", async () => {
  const many = 5000;
  chunks = [
    ...Array.from({ length: many }, (_, at) => text("x", at + 1)),
    finish,
    { ...total, usage: { prompt_tokens: 5, completion_tokens: many } },
  ];
  let length = 0;
  for await (const output of engine.generate(chatRequest("hi"), never())) {
    length += output.events.length;
    if (length % 500 === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  expect(length).toBe(many);
});

test.each<[string, ConnectError, Reason]>([
  ["a broken engine", new ConnectError("secret", Code.Internal), Reason.ENGINE_FAILED],
  ["a full engine", new ConnectError("secret", Code.ResourceExhausted), Reason.OVERLOADED],
  [
    "a prompt too long",
    new ConnectError(
      "The input (5000 tokens) is longer than the model's context length (512 tokens).",
      Code.InvalidArgument,
    ),
    Reason.CONTEXT_LENGTH_EXCEEDED,
  ],
  [
    "a refusal",
    new ConnectError('{"error":{"message":"no","type":"BadRequest"}}', Code.InvalidArgument),
    Reason.INVALID_ARGUMENT,
  ],
])("%s", async (_, failure, reason) => {
  chunks = [];
  ending = failure;
  const { outputs, error } = await drain(engine.generate(chatRequest("hi"), never()));
  expect(outputs).toEqual([]);
  expect(readDetail(error)?.reason).toBe(reason);
  expect(String(error)).not.toContain("secret");
});

test.each<[string, object, Reason]>([
  [
    "a prompt too long",
    {
      object: "error",
      message: "The input (5000 tokens) is longer than the model's context length (512 tokens).",
      type: "BadRequestError",
      code: 400,
    },
    Reason.CONTEXT_LENGTH_EXCEEDED,
  ],
  ["a refusal", { error: { message: "secret", type: "BadRequest" } }, Reason.INVALID_ARGUMENT],
  [
    "a full engine",
    { object: "error", message: "The request queue is full.", type: "x", code: 503 },
    Reason.OVERLOADED,
  ],
  ["a broken engine", { error: { message: "secret" } }, Reason.ENGINE_FAILED],
])("%s, told as the only chunk of an answer", async (_, chunk, reason) => {
  chunks = [chunk];
  const { outputs, error } = await drain(engine.generate(chatRequest("hi"), never()));
  expect(outputs).toEqual([]);
  expect(readDetail(error)?.reason).toBe(reason);
  expect(String(error)).not.toContain("secret");
});

test("a failure in the middle comes after what was counted", async () => {
  chunks = [text("Hel", 1)];
  ending = new ConnectError("secret", Code.Unavailable);
  const { outputs, error } = await drain(engine.generate(chatRequest("hi"), never()));
  expect(outputs.at(-1)?.usage?.outputTokens).toBe(1);
  expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
});

test("an answer that ends without its count is a failure", async () => {
  chunks = [{ choices: [{ index: 0, delta: { content: "Hello" } }] }, finish];
  const { error } = await drain(engine.generate(chatRequest("hi"), never()));
  expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
});

test("embeds, and names the input that is too long", async () => {
  const embed = (inputs: string[]) => engine.embed({ runId: "r", model: "m", inputs }, never());
  expect((await embed(["a", "bb"])).vectors.map((vector) => vector[0])).toEqual([1, 2]);
  const error = await embed(["a", "x".repeat(600)]).catch((refusal) => refusal);
  expect(readDetail(error)).toMatchObject({
    reason: Reason.INPUT_TOO_LONG,
    parameter: "inputs[1]",
    bound: { case: "tokens", value: { limit: 512n } },
  });
});

test("a connection that does not come about is given up after its timeout", async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.on("error", () => {}))); // TLS waits for it
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as AddressInfo;
  const nowhere = new SglangGrpcEngine(`grpcs://127.0.0.1:${port}`, { ...settings, connectTimeoutMs: 100 });
  const { error } = await drain(nowhere.generate(chatRequest("hi"), never()));
  expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
  expect((error as Error).cause).toMatchObject({ transient: true });
  await nowhere.close();
  for (const socket of sockets) {
    socket.destroy();
  }
  await new Promise((resolve) => silent.close(resolve));
});

test("TLS does not trust whom nobody vouches for", async () => {
  const insecure = new SglangGrpcEngine(`grpcs://${server.address}`, settings);
  await expect(insecure.checkHealth(never())).rejects.toMatchObject({ cause: { transient: true } });
  await insecure.close();
});

test("tells its options", async () => {
  const servers = [{ url: `grpc://${server.address}`, engine: "sglang-grpc" }];
  const [model] = configSchema.parse({ models: [{ id: "qwen3", servers }] }).models;
  const [first] = model?.servers ?? [];
  if (model === undefined || first === undefined) {
    throw new Error("the configuration lost its server");
  }
  const { facts, remarks } = await inspectServer({ model, server: first }, 1000, never());
  expect(facts).toMatchObject({ "running requests": 8, metrics: true });
  expect(remarks.map(({ message }) => message)).toEqual([
    expect.stringContaining("fewer than capacity: 256"),
    expect.stringContaining("--tool-call-parser"),
    expect.stringContaining("nobody reads any more"),
  ]);
});

test("counts texts, lists its models, tells its health and its load", async () => {
  expect(await engine.countTokens({ prompt: { case: "text", value: "hello" } }, never())).toBe(5);
  expect(await engine.countTokens(chatRequest("hi"), never())).toBeUndefined();
  expect(await engine.listModels(never())).toEqual([{ id: "qwen3", contextLength: 32768 }]);
  expect(await engine.readLoad(never())).toEqual({ running: 4, waiting: 2, kvUsage: 0.5, kvTokens: 5000 });
  await engine.checkHealth(never());
  healthy = false;
  await expect(engine.checkHealth(never())).rejects.toMatchObject({ cause: { transient: true } });
});
