import type {
  Engine,
  EngineEmbeddings,
  EngineEmbedRequest,
  EngineLoad,
  EngineModel,
  EngineOutput,
  EngineRequest,
} from "../interface.ts";
import { mostEmbeddingBytes } from "../shared/chat-completions/embeddings.ts";
import { countIn } from "../shared/counts.ts";
import { embedInBatches } from "../shared/embeddings/embed-in-batches.ts";
import { vectorsIn } from "../shared/embeddings/vectors.ts";
import { engineFailed } from "../shared/faults.ts";
import { HttpConnection, type HttpRequest, mostMetricsBytes, mostTokenListBytes } from "../shared/http/connection.ts";
import { callJson, parseObject } from "../shared/http/json-call.ts";
import { metricSum } from "../shared/prometheus.ts";
import type { EngineSettings } from "../shared/settings.ts";
import { toRefusal } from "./errors.ts";
import { checkLimit, countInput } from "./limit.ts";

/**
 * Hugging Face Text Embeddings Inference 1.9 over HTTP. Uses `/embed` with `truncate: false`: the OpenAI-compatible
 * route truncates long inputs silently unless the server was started otherwise.
 */
export class TeiEngine implements Engine {
  readonly #connection: HttpConnection;
  readonly #settings: EngineSettings;
  readonly #where: string;
  /** What the server told of itself last. Undefined: it has not answered since it last failed to. */
  #info: TeiInfo | undefined;

  constructor(url: string, settings: EngineSettings) {
    this.#connection = new HttpConnection(url, settings);
    this.#settings = settings;
    this.#where = `tei at ${this.#connection.origin}`;
  }

  // biome-ignore lint/correctness/useYield: it fails before there is anything to yield
  async *generate(_request: EngineRequest): AsyncIterable<EngineOutput> {
    throw engineFailed(`${this.#where} does not generate`, false);
  }

  async embed({ inputs, runId, trace }: EngineEmbedRequest, signal: AbortSignal): Promise<EngineEmbeddings> {
    const info = this.#info ?? (await this.#askInfo(signal));
    return embedInBatches(inputs, {
      size: info.max_client_batch_size,
      limit: info.max_input_length,
      embed: (batch) => this.#embedBatch(batch, { "x-request-id": runId, ...trace }, signal),
      count: (value) => this.countTokens({ prompt: { case: "text", value } }, signal),
    });
  }

  countTokens({ prompt }: Pick<EngineRequest, "prompt">, signal: AbortSignal): Promise<number | undefined> {
    return countInput(prompt, {
      limit: this.#settings.contextLength,
      list: (input) => this.#countTokens(input, signal),
      embed: async (input) => (await this.#embedBatch([input], {}, signal)).inputTokens,
    });
  }

  async listModels(signal: AbortSignal): Promise<readonly EngineModel[]> {
    const { model_id: id, max_input_length: contextLength } = await this.#askInfo(signal);
    return [{ id, contextLength, kind: "embedding" }];
  }

  async checkHealth(signal: AbortSignal): Promise<void> {
    const { max_input_length: longest } = await this.#askInfo(signal);
    checkLimit(this.#where, longest, this.#settings.contextLength);
    const response = await this.#connection.send({ path: "/health" }, signal);
    if (response.status !== 200) {
      throw toRefusal(this.#where, response);
    }
  }

  async readLoad(signal: AbortSignal): Promise<EngineLoad | undefined> {
    const response = await this.#connection.send({ path: "/metrics", mostBytes: mostMetricsBytes }, signal);
    const waiting = response.status === 200 ? metricSum(response.text, "te_queue_size") : undefined;
    return waiting === undefined ? undefined : { waiting };
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #countTokens(input: string, signal: AbortSignal): Promise<number> {
    const body = JSON.stringify({ inputs: [input] });
    const call = { path: "/tokenize", body, mostBytes: mostTokenListBytes };
    const { 0: tokens } = (await this.#call(call, signal)) as { readonly 0?: unknown };
    if (!Array.isArray(tokens)) {
      throw engineFailed(`${this.#where} listed no tokens`, true);
    }
    return tokens.length;
  }

  async #embedBatch(
    inputs: readonly string[],
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<EngineEmbeddings> {
    const body = JSON.stringify({ inputs, truncate: false, normalize: true });
    const response = await this.#connection.send(
      { path: "/embed", body, headers, mostBytes: mostEmbeddingBytes(inputs.length) },
      signal,
    );
    if (response.status !== 200) {
      throw toRefusal(this.#where, response);
    }
    const told = String(response.headers["x-compute-tokens"] ?? "");
    const inputTokens = /^\d+$/.test(told) ? countIn(Number(told)) : undefined;
    if (!inputTokens) {
      throw engineFailed(`${this.#where} did not count the tokens`, false);
    }
    const listed = parseObject(this.#where, response.text);
    const vectors = vectorsIn(listed, inputs.length);
    if (vectors === undefined) {
      throw engineFailed(`${this.#where} did not answer a vector for each of ${inputs.length} inputs`, true);
    }
    return { vectors, inputTokens };
  }

  async #askInfo(signal: AbortSignal): Promise<TeiInfo> {
    try {
      this.#info = checkInfo(this.#where, await this.#call({ path: "/info" }, signal));
      return this.#info;
    } catch (error) {
      this.#info = undefined;
      throw error;
    }
  }

  #call(request: HttpRequest, signal: AbortSignal): Promise<object> {
    return callJson(this.#connection, this.#where, request, toRefusal, signal);
  }
}

/** The reply of `/info`. */
interface TeiInfo {
  readonly model_id: string;
  readonly max_input_length: number;
  readonly max_client_batch_size: number;
}

function checkInfo(where: string, info: Partial<Record<keyof TeiInfo, unknown>>): TeiInfo {
  const { model_id } = info;
  const [longest, batch] = [countIn(info.max_input_length), countIn(info.max_client_batch_size)];
  if (typeof model_id !== "string" || !longest || !batch) {
    throw engineFailed(`${where} tells nonsense on /info`, true);
  }
  return { model_id, max_input_length: longest, max_client_batch_size: batch };
}
