import type { EngineName } from "../config/schema.ts";
import * as llamaCpp from "./llama-cpp/inspect.ts";
import { startCommand as startLlamaCpp } from "./llama-cpp/start.ts";
import * as ollama from "./ollama/inspect.ts";
import { startCommand as startOllama } from "./ollama/start.ts";
import * as openai from "./openai-compatible/inspect.ts";
import * as sglang from "./sglang/inspect.ts";
import { startCommand as startSglang } from "./sglang/start.ts";
import * as sglangGrpc from "./sglang-grpc/inspect.ts";
import { authorizationOf } from "./shared/authorization.ts";
import { GrpcConnection } from "./shared/grpc/connection.ts";
import { HttpConnection } from "./shared/http/connection.ts";
import type { Inspection, Subject } from "./shared/inspection/inspection.ts";
import { Probe } from "./shared/inspection/probe.ts";
import * as tei from "./tei/inspect.ts";
import { startCommand as startTei } from "./tei/start.ts";
import * as teiGrpc from "./tei-grpc/inspect.ts";
import * as trtllm from "./trtllm/inspect.ts";
import { startCommand as startTrtllm } from "./trtllm/start.ts";
import * as vllm from "./vllm/inspect.ts";
import { startCommand as startVllm } from "./vllm/start.ts";

const overHttp = {
  vllm,
  simulator: vllm, // speaks vLLM's dialect
  sglang,
  "llama.cpp": llamaCpp,
  ollama,
  trtllm,
  openai,
  tei,
} as const satisfies Partial<Record<EngineName, { inspect(probe: Probe, subject: Subject): Promise<Inspection> }>>;

/** Asks a server about itself. Throws when it does not answer. A model in this process tells nothing. */
export async function inspectServer(
  subject: Subject,
  connectTimeoutMs: number,
  signal: AbortSignal,
): Promise<Inspection> {
  const { url, engine } = subject.server;
  const authorization = authorizationOf(subject.server);
  const options = { connectTimeoutMs, ...(authorization !== undefined && { authorization }) };
  if (url.startsWith("file:")) return { facts: {}, remarks: [] };
  if (engine === "tei-grpc" || engine === "sglang-grpc") {
    const connection = new GrpcConnection(url, options);
    const { inspect } = engine === "tei-grpc" ? teiGrpc : sglangGrpc;
    return inspect(connection, subject, signal).finally(() => connection.close());
  }
  const connection = new HttpConnection(url, { ...options, connections: 4, silenceTimeoutMs: 120_000 });
  return overHttp[engine].inspect(new Probe(connection, signal), subject).finally(() => connection.close());
}

const starts: Readonly<Partial<Record<EngineName, (subject: Subject) => string>>> = {
  vllm: startVllm,
  sglang: startSglang,
  "sglang-grpc": startSglang,
  "llama.cpp": startLlamaCpp,
  ollama: startOllama,
  trtllm: startTrtllm,
  tei: startTei,
  "tei-grpc": startTei,
};

/** How to start the engine for the model. Undefined: it is not known. */
export function startCommand(subject: Subject): string | undefined {
  return subject.server.url.startsWith("file:") ? undefined : starts[subject.server.engine]?.(subject);
}
