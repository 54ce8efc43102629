import type { ServerResponse } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import { SglangService } from "#gen/sglang/runtime/v1/sglang_pb.js";
import { Embed, Info } from "#gen/tei/v1/tei_pb.js";
import { createHealth } from "#src/wire/grpc/server/health.ts";
import { registration, type ServiceRegistration } from "#src/wire/grpc/server/registration.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";
import { json, scriptedServer } from "../scripted-server.ts";

// Servers that speak an engine's real wire and say what they like.

/** Engines that generate over a network, each with its own way to frame a chunk. */
export const generators = [
  "vllm",
  "sglang",
  "llama.cpp",
  "trtllm",
  "openai",
  "simulator",
  "ollama",
  "sglang-grpc",
] as const;
export type Generator = (typeof generators)[number];

/** Engines that embed over a network. */
export const embedders = ["vllm", "sglang", "llama.cpp", "trtllm", "openai", "ollama", "tei", "tei-grpc"] as const;
export type Embedder = (typeof embedders)[number];

/** Whether an engine counts at the end only. */
export const countsAtEnd = (engine: Generator): boolean => engine === "openai" || engine === "ollama";

/** A piece of text. */
export function textChunk(engine: Generator, content: unknown): object {
  return engine === "ollama" ? { message: { content }, done: false } : { choices: [{ index: 0, delta: { content } }] };
}

/** The chunks of an answer, whose count may be any JSON. */
export function answerChunks(engine: Generator, content: string, input: unknown, output: unknown): object[] {
  if (engine === "ollama") {
    const counts = { prompt_eval_count: input, eval_count: output };
    return [textChunk(engine, content), { message: { content: "" }, done: true, done_reason: "stop", ...counts }];
  }
  const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
  return [textChunk(engine, content), { ...end, ...countsOf(engine, input, output) }];
}

function countsOf(engine: Generator, input: unknown, output: unknown): object {
  if (engine === "llama.cpp") {
    return { timings: { prompt_n: input, predicted_n: output } };
  }
  return { usage: { prompt_tokens: input, completion_tokens: output } };
}

/** What a server says of embeddings. */
export function embeddingsAnswer(engine: Embedder, count: unknown, vectors: number): object {
  const vector = Array.from({ length: 4 }, () => 0.5);
  if (engine === "tei") {
    return Array.from({ length: vectors }, () => vector);
  }
  if (engine === "ollama") {
    return { embeddings: Array.from({ length: vectors }, () => vector), prompt_eval_count: count };
  }
  const data = Array.from({ length: vectors }, (_, index) => ({ index, embedding: vector }));
  return { data, usage: { prompt_tokens: count } };
}

/** What every embedding server is tried out for: that it refuses an input that is too long. */
const tooLong = { error: { message: "This model's maximum context length is 8192 tokens.", code: 400 } };

/** A server of lies. */
export interface HostileServer extends AsyncDisposable {
  readonly url: string;
  /** What the next generations say, chunk by chunk. */
  chunks: readonly unknown[];
  /** Writes the next generations byte by byte, where HTTP carries them. */
  raw: ((response: ServerResponse) => void) | undefined;
  /** What each input is counted as over gRPC. Undefined: it is too long. */
  eachCount: number | undefined;
  /** What other calls answer, by path; undefined fields answer as a sound server does. */
  readonly answers: Record<string, (response: ServerResponse) => void>;
}

/** Starts a server that speaks as an engine does. */
export async function startHostileServer(engine: Generator | Embedder): Promise<HostileServer> {
  if (engine === "sglang-grpc") {
    return startSglangGrpc();
  }
  return engine === "tei-grpc" ? startTeiGrpc() : startHttp(engine);
}

async function startHttp(engine: Exclude<Generator | Embedder, "sglang-grpc" | "tei-grpc">): Promise<HostileServer> {
  const state = soundState();
  const frame = (chunk: unknown) =>
    engine === "ollama" ? `${JSON.stringify(chunk)}\n` : `data: ${JSON.stringify(chunk)}\n\n`;
  const generate = (_: unknown, response: ServerResponse) => {
    response.setHeader("content-type", engine === "ollama" ? "application/x-ndjson" : "text/event-stream");
    if (state.raw !== undefined) {
      return state.raw(response);
    }
    for (const chunk of state.chunks) {
      response.write(frame(chunk));
    }
    response.end(engine === "ollama" ? "" : "data: [DONE]\n\n");
  };
  const says = (path: string, body: unknown, status = 200) => ({
    [path]: (_: unknown, response: ServerResponse) =>
      state.answers[path] === undefined ? json(response, body, status) : state.answers[path]?.(response),
  });
  const server = await scriptedServer({
    "/v1/chat/completions": generate,
    "/v1/completions": generate,
    "/api/chat": generate,
    "/api/generate": generate,
    ...says("/health", {}),
    ...says("/v1/models", { data: [{ id: "m" }] }),
    ...says("/api/version", { version: "0.17.4" }),
    ...says("/api/tags", { models: [] }),
    ...says("/info", { model_id: "m", max_input_length: 8192, max_client_batch_size: 32 }),
    ...says("/metrics", undefined),
    ...says("/prometheus/metrics", undefined),
    ...says("/tokenize", { count: 5, tokens: [1, 2, 3, 4, 5] }),
    ...says("/v1/chat/completions/input_tokens", { input_tokens: 5 }),
    ...says("/v1/embeddings", tooLong, 400),
    ...says("/api/embed", tooLong, 400),
    ...says("/embed", tooLong, 400),
  });
  return Object.assign(state, {
    url: server.url,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  });
}

function soundState(): Omit<HostileServer, "url" | typeof Symbol.asyncDispose> {
  return { chunks: [], raw: undefined, answers: {}, eachCount: undefined };
}

async function startSglangGrpc(): Promise<HostileServer> {
  const state = soundState();
  async function* answer() {
    for (const chunk of state.chunks) {
      yield { jsonChunk: Buffer.from(JSON.stringify(chunk)), finished: false };
    }
    yield { jsonChunk: Buffer.alloc(0), finished: true };
  }
  const service = registration(SglangService, {
    chatComplete: answer,
    complete: answer,
    healthCheck: () => ({ healthy: true }),
    getLoad: () => ({ jsonInfo: "[]" }),
    abort: () => ({ success: true }),
  });
  return listen(state, [service]);
}

async function startTeiGrpc(): Promise<HostileServer> {
  const state = soundState();
  const services = [
    registration(Info, { info: () => ({ modelId: "m", maxInputLength: 8192, maxClientBatchSize: 32 }) }),
    registration(Embed, {
      embed() {
        if (state.eachCount === undefined) {
          const message = "Input validation error: `inputs` must have less than 8192 tokens. Given: 9000";
          throw new ConnectError(message, Code.InvalidArgument);
        }
        return { embeddings: [0.5, 0.5, 0.5, 0.5], metadata: { computeTokens: state.eachCount } };
      },
    }),
  ];
  return listen(state, [...services, createHealth(services).registration]);
}

async function listen(state: ReturnType<typeof soundState>, services: ServiceRegistration[]): Promise<HostileServer> {
  const server = await startGrpcServer({ address: "127.0.0.1:0", services, interceptors: [] });
  return Object.assign(state, {
    url: `grpc://${server.address}`,
    async [Symbol.asyncDispose]() {
      await server.stop(0);
    },
  });
}
