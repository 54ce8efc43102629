import { Code, ConnectError } from "@connectrpc/connect";
import { SglangService } from "#gen/sglang/runtime/v1/sglang_pb.js";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";

/** SGLang's gRPC service before the simulator's HTTP of the same dialect. */
export interface SglangBridge extends AsyncDisposable {
  readonly url: string;
}

/** Starts a bridge to a server that speaks SGLang's HTTP. Passes JSON through as SGLang's own does (entrypoints/grpc_bridge.py). */
export async function startSglangBridge(http: string): Promise<SglangBridge> {
  const post = (path: string, body: Uint8Array, signal: AbortSignal) =>
    fetch(http + path, { method: "POST", body: Buffer.from(body), signal });
  async function* stream(path: string, body: Uint8Array, signal: AbortSignal) {
    const response = await post(path, body, signal);
    const text = await response.text();
    if (response.status !== 200) {
      throw new ConnectError(text, Code.InvalidArgument);
    }
    for (const data of text.split("\n\n").filter((event) => event.startsWith("data: {"))) {
      yield { jsonChunk: Buffer.from(data.slice("data: ".length)), finished: false };
    }
    yield { jsonChunk: Buffer.alloc(0), finished: true };
  }
  const service = registration(SglangService, {
    chatComplete: ({ jsonBody }, { signal }) => stream("/v1/chat/completions", jsonBody, signal),
    complete: ({ jsonBody }, { signal }) => stream("/v1/completions", jsonBody, signal),
    async tokenize({ text }, { signal }) {
      const response = await post("/tokenize", Buffer.from(JSON.stringify({ prompt: text })), signal);
      return { count: ((await response.json()) as { count: number }).count };
    },
    healthCheck: () => ({ healthy: true }),
    getLoad: () => ({ jsonInfo: "[]" }),
    abort: () => ({ success: true }),
  });
  const server = await startGrpcServer({ address: "127.0.0.1:0", services: [service], interceptors: [] });
  return {
    url: `grpc://${server.address}`,
    async [Symbol.asyncDispose]() {
      await server.stop(0);
    },
  };
}
