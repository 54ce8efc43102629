import { Health, HealthCheckResponse_ServingStatus as Status } from "#gen/grpc/health/v1/health_pb.js";
import { Embed, Info, Tokenize } from "#gen/tei/v1/tei_pb.js";
import type {
  Engine,
  EngineEmbeddings,
  EngineEmbedRequest,
  EngineModel,
  EngineOutput,
  EngineRequest,
} from "../interface.ts";
import { mostEmbeddingBytes } from "../shared/chat-completions/embeddings.ts";
import { embedInBatches } from "../shared/embeddings/embed-in-batches.ts";
import { engineFailed } from "../shared/faults.ts";
import { GrpcConnection, toResponse } from "../shared/grpc/connection.ts";
import type { EngineSettings } from "../shared/settings.ts";
import { toRefusal } from "../tei/errors.ts";
import { checkLimit, countInput } from "../tei/limit.ts";

/** Parallel calls. Each carries one input. */
const parallel = 32;

/** Text Embeddings Inference 1.9 over gRPC, from its images whose tags end in `-grpc`. */
export class TeiGrpcEngine implements Engine {
  readonly #connection: GrpcConnection;
  /** For lists of tokens only, since their answers are long. */
  readonly #lists: GrpcConnection;
  readonly #settings: EngineSettings;
  readonly #where: string;

  constructor(url: string, settings: EngineSettings) {
    this.#connection = new GrpcConnection(url, { ...settings, mostBytes: mostEmbeddingBytes(1) });
    this.#lists = new GrpcConnection(url, settings);
    this.#settings = settings;
    this.#where = `tei at ${url}`;
  }

  // biome-ignore lint/correctness/useYield: it fails before there is anything to yield
  async *generate(_request: EngineRequest): AsyncIterable<EngineOutput> {
    throw engineFailed(`${this.#where} does not generate`, false);
  }

  embed({ inputs, runId, trace }: EngineEmbedRequest, signal: AbortSignal): Promise<EngineEmbeddings> {
    return embedInBatches(inputs, {
      size: parallel,
      limit: this.#settings.contextLength,
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
    const { modelId, maxInputLength } = await this.#info(signal);
    return [{ id: modelId, contextLength: maxInputLength, kind: "embedding" }];
  }

  async checkHealth(signal: AbortSignal): Promise<void> {
    const { maxInputLength } = await this.#info(signal);
    checkLimit(this.#where, maxInputLength, this.#settings.contextLength);
    const service = Embed.typeName;
    const { status } = await this.#call(signal, () => this.#connection.client(Health).check({ service }, { signal }));
    if (status !== Status.SERVING) {
      await this.#embedBatch(["."], {}, signal); // the server may just not have been asked yet
    }
  }

  async readLoad(): Promise<undefined> {
    return undefined;
  }

  async close(): Promise<void> {
    await Promise.all([this.#connection.close(), this.#lists.close()]);
  }

  async #embedBatch(inputs: readonly string[], headers: Record<string, string>, signal: AbortSignal) {
    const client = this.#connection.client(Embed);
    const rest = new AbortController();
    const options = { signal: AbortSignal.any([signal, rest.signal]), headers };
    const answers = await this.#call(signal, () =>
      Promise.all(inputs.map((text) => client.embed({ inputs: text, truncate: false, normalize: true }, options))),
    ).finally(() => rest.abort()); // the first failure makes the other calls useless
    const counts = answers.map(({ metadata }) => metadata?.computeTokens ?? 0);
    if (counts.some((count) => count < 1)) {
      throw engineFailed(`${this.#where} did not count the tokens`, false);
    }
    return {
      vectors: answers.map(({ embeddings }) => Float32Array.from(embeddings)),
      inputTokens: counts.reduce((sum, count) => sum + count, 0),
    };
  }

  async #countTokens(inputs: string, signal: AbortSignal): Promise<number> {
    const call = () => this.#lists.client(Tokenize).tokenize({ inputs, addSpecialTokens: true }, { signal });
    const { tokens } = await this.#call(signal, call, this.#lists);
    return tokens.length;
  }

  #info(signal: AbortSignal) {
    return this.#call(signal, () => this.#connection.client(Info).info({}, { signal }));
  }

  async #call<T>(signal: AbortSignal, call: () => Promise<T>, connection = this.#connection): Promise<T> {
    try {
      await connection.connect();
      return await call();
    } catch (error) {
      throw toRefusal(this.#where, toResponse(error, signal));
    }
  }
}
