import { type OpenAIStreamChunk, SglangService } from "#gen/sglang/runtime/v1/sglang_pb.js";
import type {
  Engine,
  EngineEmbeddings,
  EngineEmbedRequest,
  EngineLoad,
  EngineModel,
  EngineOutput,
  EngineRequest,
} from "../interface.ts";
import { sglang } from "../sglang/dialect.ts";
import { AnswerBuilder, type EngineTraits } from "../shared/answer/answer-builder.ts";
import { ChunkParser } from "../shared/chat-completions/chunk-parser.ts";
import { ChunkReader } from "../shared/chat-completions/chunk-reader.ts";
import { readEmbeddings } from "../shared/chat-completions/embeddings.ts";
import { toRefusal } from "../shared/chat-completions/errors.ts";
import { generationRequest } from "../shared/chat-completions/request.ts";
import { countIn } from "../shared/counts.ts";
import { embedInBatches } from "../shared/embeddings/embed-in-batches.ts";
import { engineFailed, toldCount } from "../shared/faults.ts";
import { GrpcConnection, toResponse } from "../shared/grpc/connection.ts";
import { parseObject } from "../shared/http/json-call.ts";
import { longestLine } from "../shared/http/line-splitter.ts";
import type { EngineSettings } from "../shared/settings.ts";
import { readLoad } from "./load.ts";

/** Milliseconds that an abort request may take. */
const abortTimeoutMs = 5000;

/**
 * SGLang's native gRPC service (`--enable-grpc`), by its source as of 2026 (rust/sglang-grpc,
 * entrypoints/grpc_bridge.py). It passes through the JSON of SGLang's HTTP dialect.
 */
export class SglangGrpcEngine implements Engine {
  readonly #connection: GrpcConnection;
  readonly #client;
  readonly #settings: EngineSettings;
  readonly #traits: EngineTraits;
  readonly #parser = new ChunkParser();

  constructor(url: string, settings: EngineSettings) {
    this.#connection = new GrpcConnection(url, settings);
    this.#client = this.#connection.client(SglangService);
    this.#settings = settings;
    this.#traits = { where: `sglang at ${url}`, sendsReasoning: false };
  }

  async *generate(request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineOutput> {
    const { path, body } = generationRequest(request, sglang, this.#settings.systemAnywhere);
    const call = toCall(body, request);
    const answer = new AnswerBuilder(request, this.#traits);
    const chunks = new ChunkReader(this.#traits.where, sglang, this.#parser, answer);
    const left = new AbortController(); // a Connect client does not notice a reader that leaves
    const options = { signal: AbortSignal.any([signal, left.signal]) };
    let ended = false;
    try {
      await this.#connection.connect();
      const stream =
        path === "/v1/completions" ? this.#client.complete(call, options) : this.#client.chatComplete(call, options);
      for await (const output of outputsOf(stream, chunks)) {
        yield output;
      }
      ended = true;
    } catch (error) {
      ended = !signal.aborted; // the engine ended it and accepts the id for another try
      throw toRefusal(this.#traits.where, toResponse(error, signal));
    } finally {
      left.abort();
      // Versions differ: some stop a request whose call ends, some one that an abort names, and some neither.
      if (!ended) {
        this.#client.abort({ rid: request.runId }, { timeoutMs: abortTimeoutMs }).catch(() => {});
      }
    }
  }

  embed(request: EngineEmbedRequest, signal: AbortSignal): Promise<EngineEmbeddings> {
    return embedInBatches(request.inputs, {
      size: sglang.embedBatch,
      limit: this.#settings.contextLength,
      embed: async (batch) => {
        const body = JSON.stringify({ model: request.model, input: batch, encoding_format: sglang.embedFormat });
        const { jsonBody, statusCode } = await this.#call(signal, () =>
          this.#client.openAIEmbed(toCall(body, request), { signal }),
        );
        const text = decode(jsonBody);
        const { where } = this.#traits;
        if (statusCode !== 0 && statusCode !== 200) {
          throw toRefusal(where, { status: statusCode, headers: {}, text });
        }
        return readEmbeddings(where, parseObject(where, text), batch.length);
      },
      count: (value) => this.countTokens({ prompt: { case: "text", value } }, signal),
    });
  }

  /** SGLang's tokenizer takes texts only: a conversation's tokens depend on the chat template. */
  async countTokens({ prompt }: Pick<EngineRequest, "prompt">, signal: AbortSignal): Promise<number | undefined> {
    if (prompt.case !== "text") {
      return undefined;
    }
    const { count } = await this.#call(signal, () => this.#client.tokenize({ text: prompt.value }, { signal }));
    return toldCount(this.#traits.where, count);
  }

  async listModels(signal: AbortSignal): Promise<readonly EngineModel[]> {
    const { models } = await this.#call(signal, () => this.#client.listModels({}, { signal }));
    return models.map(({ id, maxModelLen }) => {
      const contextLength = countIn(maxModelLen);
      return { id, ...(contextLength && { contextLength }) };
    });
  }

  async checkHealth(signal: AbortSignal): Promise<void> {
    const { healthy } = await this.#call(signal, () => this.#client.healthCheck({}, { signal }));
    if (!healthy) {
      throw engineFailed(`${this.#traits.where} is starting or broken`, true);
    }
  }

  async readLoad(signal: AbortSignal): Promise<EngineLoad | undefined> {
    const { jsonInfo } = await this.#call(signal, () => this.#client.getLoad({}, { signal }));
    return readLoad(jsonInfo);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #call<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    try {
      await this.#connection.connect();
      return await call();
    } catch (error) {
      throw toRefusal(this.#traits.where, toResponse(error, signal));
    }
  }
}

async function* outputsOf(stream: AsyncIterable<OpenAIStreamChunk>, chunks: ChunkReader): AsyncGenerator<EngineOutput> {
  for await (const { jsonChunk } of stream) {
    if (jsonChunk.length > longestLine) {
      throw engineFailed("a chunk of the stream is too long", true);
    }
    if (jsonChunk.length > 0) {
      chunks.read(decode(jsonChunk));
    }
    const output = chunks.take();
    if (output !== undefined) {
      yield output;
    }
  }
  chunks.end();
  const last = chunks.take();
  if (last !== undefined) {
    yield last;
  }
}

function toCall(body: string, { runId, trace }: Pick<EngineRequest, "runId" | "trace">) {
  return { jsonBody: Buffer.from(body), traceHeaders: { "x-request-id": runId, ...trace } };
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
