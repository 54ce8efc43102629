import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type {
  Engine,
  EngineEmbeddings,
  EngineEmbedRequest,
  EngineLoad,
  EngineModel,
  EngineOutput,
  EngineRequest,
} from "../interface.ts";
import { contextExceeded, engineFailed, inputTooLong } from "../shared/faults.ts";
import type { ModelSettings } from "../shared/settings.ts";
import { AnswerReader } from "./answer-reader.ts";
import type { Token } from "./binding.ts";
import { renderPrompt } from "./chat-template.ts";
import { generation } from "./generation.ts";
import { type Loaded, load } from "./load.ts";
import { checkTools, demandedTools } from "./tools.ts";

type Tokenizable = Pick<EngineRequest, "prompt" | "thinking">;

/**
 * llama.cpp in this process. It computes in native threads, so that the event loop stays free. The model loads in the
 * background from the start.
 */
export class LlamaCppEngine implements Engine {
  readonly #settings: ModelSettings;
  readonly #path: string;
  readonly #loading: Promise<Loaded>;
  #running = 0;

  /** `url` is the model file as a `file:` URL. */
  constructor(url: string, settings: ModelSettings) {
    this.#settings = settings;
    this.#path = fileURLToPath(url);
    this.#loading = load(this.#path, { ...settings, threads: threads() });
    this.#loading.catch(() => {}); // every later call reports the error
  }

  async *generate(request: EngineRequest, signal: AbortSignal): AsyncIterable<EngineOutput> {
    const loaded = await this.#loaded();
    if (loaded.kind !== "generation") {
      throw engineFailed(`${this.#path} is an embedding model`, false);
    }
    const { model, sequences, contextLength, takesTools } = loaded;
    const demanded = request.prompt.case === "conversation" ? demandedTools(request.prompt.value) : [];
    if (request.prompt.case === "conversation") {
      checkTools(request.prompt.value, takesTools);
    }
    const prompt = this.#tokenize(loaded, request);
    const room = contextLength - prompt.length;
    if (room < 1) {
      const what = `a prompt of ${prompt.length} tokens does not fit ${this.#path}`;
      throw contextExceeded(what, { limit: contextLength, actual: prompt.length });
    }
    const limited = { ...request, maxOutputTokens: Math.min(request.maxOutputTokens, room) };
    const grammar = demanded.length > 0 ? await loaded.demandCall(demanded) : undefined;
    const seat = await sequences.take(request.cacheSalt, signal);
    this.#running++;
    try {
      const reader = new AnswerReader(request, grammar !== undefined);
      yield* generation(model, seat.sequence, prompt, limited, reader, grammar, signal);
    } finally {
      this.#running--;
      sequences.release(seat);
    }
  }

  async embed(request: EngineEmbedRequest, signal: AbortSignal): Promise<EngineEmbeddings> {
    const loaded = await this.#loaded();
    if (loaded.kind !== "embedding") {
      throw engineFailed(`${this.#path} is not an embedding model`, false);
    }
    const { model, context, contextLength } = loaded;
    const inputs = request.inputs.map((input) => model.tokenize(input, false));
    const lengths = inputs.map((tokens) => context.calculateInputLength(tokens));
    const long = lengths.findIndex((length) => length > contextLength);
    if (long !== -1) {
      throw inputTooLong(`input ${long} is too long`, long, { limit: contextLength, actual: lengths[long] });
    }
    const vectors: Float32Array[] = [];
    for (const tokens of inputs) {
      signal.throwIfAborted();
      vectors.push(Float32Array.from((await context.getEmbeddingFor(tokens)).vector));
    }
    return { vectors, inputTokens: lengths.reduce((sum, length) => sum + length, 0) };
  }

  async countTokens(request: Tokenizable): Promise<number> {
    const loaded = await this.#loaded();
    const tokens = this.#tokenize(loaded, request);
    return loaded.kind === "embedding" ? loaded.context.calculateInputLength(tokens) : tokens.length;
  }

  async listModels(): Promise<readonly EngineModel[]> {
    const { contextLength } = await this.#loaded();
    return [{ id: this.#path, contextLength }];
  }

  async checkHealth(): Promise<void> {
    await this.#loaded();
  }

  async readLoad(): Promise<EngineLoad> {
    return { running: this.#running, waiting: 0 };
  }

  async close(): Promise<void> {
    const loaded = await this.#loading.catch(() => undefined);
    await loaded?.dispose();
  }

  async #loaded(): Promise<Loaded> {
    try {
      return await this.#loading;
    } catch (error) {
      const isBug = error instanceof TypeError || error instanceof RangeError; // from the binding, over an odd file
      const what = isBug ? "no model that llama.cpp can read" : error instanceof Error ? error.message : error;
      throw engineFailed(`${this.#path}: ${what}`, false, error);
    }
  }

  /** The prompt's tokens. Special tokens count as such only where the template put them. */
  #tokenize({ model, template }: Loaded, { prompt, thinking }: Tokenizable): Token[] {
    const { bos, bosString, eosString, shouldPrependBosToken } = model.tokens;
    if (prompt.case === "text") {
      const tokens = model.tokenize(prompt.value, false);
      return shouldPrependBosToken && bos !== null ? [bos, ...tokens] : tokens;
    }
    const { systemAnywhere } = this.#settings;
    const settings = { systemAnywhere, bosToken: bosString, eosToken: eosString };
    return model.tokenize(renderPrompt(template, prompt.value, thinking, settings), true);
  }
}

/** The number of threads. Small machines get one: on them two threads took fifty times as long as one. */
function threads(): number {
  const cores = availableParallelism();
  return cores <= 4 ? 1 : Math.floor(cores / 2);
}
