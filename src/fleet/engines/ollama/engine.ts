import type {
  Engine,
  EngineEmbeddings,
  EngineEmbedRequest,
  EngineModel,
  EngineOutput,
  EngineRequest,
} from "../interface.ts";
import { AnswerBuilder, type EngineTraits } from "../shared/answer/answer-builder.ts";
import { mostEmbeddingBytes } from "../shared/chat-completions/embeddings.ts";
import { toRefusal } from "../shared/chat-completions/errors.ts";
import { countIn } from "../shared/counts.ts";
import { embedInBatches } from "../shared/embeddings/embed-in-batches.ts";
import { vectorsIn } from "../shared/embeddings/vectors.ts";
import { engineFailed } from "../shared/faults.ts";
import { HttpConnection, type HttpRequest, mostTokenListBytes } from "../shared/http/connection.ts";
import { callJson } from "../shared/http/json-call.ts";
import { openStream } from "../shared/http/stream.ts";
import type { EngineSettings } from "../shared/settings.ts";
import { generationRequest } from "./request.ts";
import { LineReader } from "./stream.ts";
import { cutsPrompts, firstThatRefuses } from "./version.ts";

/** Inputs of one call. Ollama embeds them in parallel, each as a request to its runner. */
const embedBatch = 32;

/** The most models that are described, with one call each. */
const mostDescribed = 256;

/**
 * Ollama through its native API, by its source as of August 2026: its OpenAI-compatible API truncates prompts and
 * inputs silently. It counts only at the end, has neither a tokenizer call nor metrics, and its prefix cache takes no
 * salt.
 */
export class OllamaEngine implements Engine {
  readonly #connection: HttpConnection;
  readonly #settings: EngineSettings;
  readonly #traits: EngineTraits;

  constructor(url: string, settings: EngineSettings) {
    this.#connection = new HttpConnection(url, settings);
    this.#settings = settings;
    this.#traits = { where: `ollama at ${this.#connection.origin}`, sendsReasoning: false };
  }

  generate(request: EngineRequest, signal: AbortSignal): AsyncIterable<EngineOutput> {
    const reader = new LineReader(this.#traits.where, new AnswerBuilder(request, this.#traits));
    const call = {
      ...generationRequest(request, this.#settings),
      headers: { "x-request-id": request.runId, ...request.trace },
    };
    return openStream(this.#connection, call, reader, signal);
  }

  embed({ model, inputs, runId, trace }: EngineEmbedRequest, signal: AbortSignal): Promise<EngineEmbeddings> {
    const { contextLength: limit } = this.#settings;
    return embedInBatches(inputs, {
      size: embedBatch,
      limit,
      embed: async (batch) => {
        const body = JSON.stringify({ model, input: batch, truncate: false, options: { num_ctx: limit } });
        const headers = { "x-request-id": runId, ...trace };
        const call = { path: "/api/embed", body, headers, mostBytes: mostEmbeddingBytes(batch.length) };
        return this.#readEmbeddings(await this.#call(call, signal), batch.length);
      },
      count: () => this.countTokens(),
    });
  }

  async countTokens(): Promise<undefined> {
    return undefined;
  }

  async listModels(signal: AbortSignal): Promise<readonly EngineModel[]> {
    const { models } = (await this.#call({ path: "/api/tags" }, signal)) as { models?: unknown };
    const listed = Array.isArray(models) ? (models as readonly ({ readonly name?: unknown } | null)[]) : [];
    const names = listed.flatMap((model) => (typeof model?.name === "string" ? [model.name] : []));
    return Promise.all(names.slice(0, mostDescribed).map((name) => this.#describe(name, signal)));
  }

  async checkHealth(signal: AbortSignal): Promise<void> {
    const { version } = (await this.#call({ path: "/api/version" }, signal)) as { readonly version?: unknown };
    if (!cutsPrompts(typeof version === "string" ? version : "")) {
      return;
    }
    const what = `${this.#traits.where} is version ${version}, which cuts long prompts: ${firstThatRefuses} does not`;
    throw engineFailed(what, false);
  }

  async readLoad(): Promise<undefined> {
    return undefined;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #describe(id: string, signal: AbortSignal): Promise<EngineModel> {
    const body = JSON.stringify({ model: id });
    const call = { path: "/api/show", body, mostBytes: mostTokenListBytes }; // the reply may contain a vocabulary
    const { capabilities, model_info } = (await this.#call(call, signal)) as WireModel;
    const [, told] = Object.entries(model_info ?? {}).find(([key]) => key.endsWith(".context_length")) ?? [];
    const contextLength = countIn(told);
    return {
      id,
      kind: Array.isArray(capabilities) && capabilities.includes("completion") ? "generation" : "embedding",
      ...(contextLength && { contextLength }),
    };
  }

  #readEmbeddings(answer: WireEmbeddings, inputs: number): EngineEmbeddings {
    const { where } = this.#traits;
    const vectors = vectorsIn(answer.embeddings, inputs);
    if (vectors === undefined) {
      throw engineFailed(`${where} did not answer a vector for each of ${inputs} inputs`, true);
    }
    const inputTokens = countIn(answer.prompt_eval_count);
    if (!inputTokens) {
      throw engineFailed(`${where} did not count the tokens`, false);
    }
    return { vectors, inputTokens };
  }

  #call(request: HttpRequest, signal: AbortSignal): Promise<object> {
    return callJson(this.#connection, this.#traits.where, request, toRefusal, signal);
  }
}

/** The reply of `/api/show`. */
interface WireModel {
  readonly capabilities?: unknown;
  /** Metadata of the model file, such as `qwen3.context_length`. */
  readonly model_info?: Readonly<Record<string, unknown>> | null;
}

interface WireEmbeddings {
  readonly embeddings?: unknown;
  readonly prompt_eval_count?: unknown;
}
