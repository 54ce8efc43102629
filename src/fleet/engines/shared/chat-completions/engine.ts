import type {
  Engine,
  EngineEmbeddings,
  EngineEmbedRequest,
  EngineLoad,
  EngineModel,
  EngineOutput,
  EngineRequest,
} from "../../interface.ts";
import { AnswerBuilder, type EngineTraits } from "../answer/answer-builder.ts";
import { countIn } from "../counts.ts";
import { embedInBatches } from "../embeddings/embed-in-batches.ts";
import { isRefusal, toldCount } from "../faults.ts";
import { HttpConnection, type HttpRequest, mostMetricsBytes, mostTokenListBytes } from "../http/connection.ts";
import { callJson } from "../http/json-call.ts";
import { longestLine } from "../http/line-splitter.ts";
import { openStream } from "../http/stream.ts";
import { objectIn } from "../inspection/probe.ts";
import { metricSum } from "../prometheus.ts";
import type { EngineSettings } from "../settings.ts";
import { ChunkParser } from "./chunk-parser.ts";
import { ChunkReader } from "./chunk-reader.ts";
import type { Dialect, Fields } from "./dialect.ts";
import { mostEmbeddingBytes, readEmbeddings } from "./embeddings.ts";
import { toRefusal } from "./errors.ts";
import { generationRequest, promptFields } from "./request.ts";
import { SseReader } from "./stream.ts";

/** The most bytes of one token id in a list, for each byte of the prompt: a token's text has at least one byte. */
const bytesPerTokenId = 10;

/** An engine with an OpenAI-compatible HTTP API. Always streams, so that tokens are counted as they come. */
export class ChatCompletionsEngine implements Engine {
  readonly #connection: HttpConnection;
  readonly #dialect: Dialect;
  readonly #settings: EngineSettings;
  readonly #traits: EngineTraits;
  readonly #parser = new ChunkParser();
  /** The size of the KV cache as the server told it, which may be nothing. Undefined: it has not answered. */
  #kv: { readonly tokens: number | undefined } | undefined;

  constructor(url: string, dialect: Dialect, settings: EngineSettings) {
    this.#connection = new HttpConnection(url, settings);
    this.#dialect = dialect;
    this.#settings = settings;
    this.#traits = {
      where: `${dialect.engine} at ${this.#connection.origin}`,
      sendsReasoning: false,
      ...(dialect.mayIgnoreStops && { mayIgnoreStops: true }),
      ...(dialect.mayRepeatPrefill && { echo: { repeatsPrefill: undefined } }),
    };
  }

  generate(request: EngineRequest, signal: AbortSignal): AsyncIterable<EngineOutput> {
    const { path, body } = generationRequest(request, this.#dialect, this.#settings.systemAnywhere);
    const answer = new AnswerBuilder(request, this.#traits);
    const chunks = new ChunkReader(this.#traits.where, this.#dialect, this.#parser, answer);
    // vLLM returns the prompt's token ids with the first chunk.
    const longest = longestLine + (body.includes('"return_token_ids":true') ? body.length * bytesPerTokenId : 0);
    const reader = new SseReader(this.#traits.where, chunks, longest);
    const headers = { "x-request-id": request.runId, ...request.trace };
    return openStream(this.#connection, { path, body, headers }, reader, signal);
  }

  embed(request: EngineEmbedRequest, signal: AbortSignal): Promise<EngineEmbeddings> {
    const { model, runId, inputs, trace } = request;
    const headers = { "x-request-id": runId, ...trace };
    const { embedBatch, embedFormat } = this.#dialect;
    const recipe = { mode: "none", depths: false, switch: "chat_template_kwargs" } as const;
    return embedInBatches(inputs, {
      size: embedBatch,
      limit: this.#settings.contextLength,
      ...(this.#dialect.tokenize === undefined && { mayCut: request }),
      embed: async (batch) => {
        const body = JSON.stringify({ model, input: batch, encoding_format: embedFormat });
        const answer = await this.#call(
          { path: "/v1/embeddings", body, headers, mostBytes: mostEmbeddingBytes(batch.length) },
          signal,
        );
        return readEmbeddings(this.#traits.where, answer, batch.length);
      },
      count: (value) => this.countTokens({ model, prompt: { case: "text", value }, recipe }, signal),
    });
  }

  async countTokens(
    request: Pick<EngineRequest, "model" | "prompt" | "thinking" | "recipe">,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const prompt = promptFields(request, this.#dialect, this.#settings.systemAnywhere);
    const call = this.#dialect.tokenize?.(prompt);
    if (call === undefined) {
      return undefined;
    }
    try {
      const answer = await this.#call(
        { path: call.path, body: JSON.stringify(call.body), mostBytes: mostTokenListBytes },
        signal,
      );
      const count = (answer as Fields)[call.field];
      return Array.isArray(count) ? count.length : toldCount(this.#traits.where, count);
    } catch (error) {
      if (isRefusal(error)) {
        return undefined; // an older version, which lacks the call or takes no turns in it
      }
      throw error;
    }
  }

  async listModels(signal: AbortSignal): Promise<readonly EngineModel[]> {
    const { data } = (await this.#call({ path: "/v1/models" }, signal)) as { data?: unknown };
    const listed = Array.isArray(data) ? (data as readonly (WireModel | null)[]) : [];
    return listed.flatMap((model) => {
      if (typeof model?.id !== "string") {
        return [];
      }
      const { id, max_model_len, meta } = model;
      const contextLength = countIn(max_model_len ?? meta?.n_ctx ?? meta?.n_ctx_train);
      return [{ id, ...(contextLength && { contextLength }) }];
    });
  }

  async checkHealth(signal: AbortSignal): Promise<void> {
    try {
      await this.#checkHealth(signal);
    } catch (error) {
      this.#kv = undefined; // it may come back as another server
      throw error;
    }
  }

  async #checkHealth(signal: AbortSignal): Promise<void> {
    const { healthPath, otherHealthPath } = this.#dialect;
    const response = await this.#connection.send({ path: healthPath }, signal);
    if (response.status >= 500 && otherHealthPath !== undefined) {
      const other = await this.#connection.send({ path: otherHealthPath }, signal);
      if (other.status === 200) {
        return;
      }
    }
    if (response.status !== 200) {
      throw toRefusal(this.#traits.where, response);
    }
  }

  async readLoad(signal: AbortSignal): Promise<EngineLoad | undefined> {
    const load = await this.#readMetrics(signal);
    const kvTokens = await this.#readKvTokens(signal).catch(() => undefined); // the rest is worth having without it
    return kvTokens === undefined ? load : { ...load, kvTokens };
  }

  async #readMetrics(signal: AbortSignal): Promise<EngineLoad | undefined> {
    const { metrics } = this.#dialect;
    if (metrics === undefined) {
      return undefined;
    }
    const response = await this.#connection.send({ path: metrics.path, mostBytes: mostMetricsBytes }, signal);
    if (response.status !== 200) {
      return undefined; // metrics are optional in most engines
    }
    const load = Object.entries(metrics.names).flatMap(([key, name]) => {
      const value = metricSum(response.text, name);
      return value === undefined ? [] : [[key, value]];
    });
    const kvTokens = metrics.kvTokens?.(response.text);
    return { ...Object.fromEntries(load), ...(kvTokens && { kvTokens }) };
  }

  /**
   * The size of the KV cache in tokens. Asked until it is answered, and again after a check that the server failed.
   * Undefined: the engine does not report it.
   */
  async #readKvTokens(signal: AbortSignal): Promise<number | undefined> {
    const { kvCall } = this.#dialect;
    if (kvCall === undefined || this.#kv !== undefined) {
      return this.#kv?.tokens;
    }
    let isAnswered = true;
    for (const path of kvCall.paths) {
      const { status, text } = await this.#connection.send({ path }, signal);
      const tokens = status === 200 ? kvCall.read(objectIn(text) ?? {}) : undefined;
      if (tokens !== undefined) {
        this.#kv = { tokens };
        return tokens;
      }
      isAnswered &&= status < 500;
    }
    this.#kv = isAnswered ? { tokens: undefined } : undefined;
    return undefined;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #call(request: HttpRequest, signal: AbortSignal): Promise<object> {
    return callJson(this.#connection, this.#traits.where, request, toRefusal, signal);
  }
}

/** A model as `/v1/models` lists it. Its length has vLLM's and SGLang's name, or llama-server's. */
interface WireModel {
  readonly id?: unknown;
  readonly max_model_len?: unknown;
  readonly meta?: { readonly n_ctx?: unknown; readonly n_ctx_train?: unknown } | null;
}
