import type { EngineName } from "../config/schema.ts";
import { createNetworkEngine } from "./create-engine.ts";
import type { Engine, EngineModel } from "./interface.ts";
import { HttpConnection } from "./shared/http/connection.ts";
import type { EngineSettings } from "./shared/settings.ts";

/** A model that was found on a server. */
export interface DiscoveredModel {
  readonly id: string;
  readonly kind: "generation" | "embedding";
  /** Undefined: the server does not tell. */
  readonly contextLength?: number;
  /** Of an embedding model's vectors. */
  readonly dimensions?: number;
}

/** An inference server that was found. */
export interface DiscoveredServer {
  readonly url: string;
  readonly engine: EngineName;
  readonly models: readonly DiscoveredModel[];
}

/** Where inference servers listen by default: vLLM, llama-server, SGLang, Ollama. */
const usualPorts = [8000, 8080, 30_000, 11_434];

/** A server on this machine answers sooner, or is none. */
const localTimeoutMs = 1000;

/** Whether a server is asked slowly does not matter here. */
const settings: EngineSettings = {
  connections: 8,
  connectTimeoutMs: 2000,
  silenceTimeoutMs: 30_000,
  systemAnywhere: false,
  contextLength: Number.POSITIVE_INFINITY,
};

/** Finds out which engine listens at a URL and what it serves. Throws what to tell a person when none does. */
export async function discoverServer(url: string, signal: AbortSignal): Promise<DiscoveredServer> {
  const engine = await detectEngine(url, signal);
  if (engine === undefined) throw new Error(`no inference server answers at ${url}: is it running?`);
  const adapter = createNetworkEngine(engine, url, settings);
  try {
    const listed = await adapter.listModels(signal);
    const models = await Promise.all(listed.map((model) => describe(adapter, model, signal)));
    if (models.length === 0) throw new Error(`the inference server at ${url} serves no model`);
    return { url, engine, models };
  } finally {
    await adapter.close();
  }
}

/** The inference servers of known kinds that listen on their usual ports of this machine. */
export async function findLocalServers(except: readonly number[] = []): Promise<DiscoveredServer[]> {
  const ports = usualPorts.filter((port) => !except.includes(port));
  const found = await Promise.all(
    ports.map((port) =>
      discoverServer(`http://127.0.0.1:${port}`, AbortSignal.timeout(localTimeoutMs)).catch(() => undefined),
    ),
  );
  return found.filter((server) => server !== undefined).filter(({ engine }) => engine !== "openai");
}

/** What `/v1/models` says of the owner, by engine. */
const owners: Readonly<Record<string, EngineName>> = {
  vllm: "vllm",
  sglang: "sglang",
  llamacpp: "llama.cpp",
  library: "ollama",
  tensorrt_llm: "trtllm",
};

/** Calls that only one engine answers. */
const marks: readonly [path: string, field: string, engine: EngineName][] = [
  ["/info", "max_client_batch_size", "tei"],
  ["/get_model_info", "model_path", "sglang"],
  ["/props", "total_slots", "llama.cpp"],
  ["/api/version", "version", "ollama"],
];

async function detectEngine(url: string, signal: AbortSignal): Promise<EngineName | undefined> {
  const connection = new HttpConnection(url, settings);
  try {
    const list = await ask(connection, "/v1/models", signal);
    const owned = list?.data?.[0]?.owned_by;
    const owner = typeof owned === "string" && Object.hasOwn(owners, owned) ? owners[owned] : undefined;
    if (owner !== undefined) return owner;
    const answers = await Promise.all(marks.map(([path]) => ask(connection, path, signal)));
    const mark = marks.find(([, field], index) => answers[index]?.[field] !== undefined);
    return mark?.[2] ?? (Array.isArray(list?.data) ? "openai" : undefined);
  } finally {
    await connection.close();
  }
}

/** A JSON object with fields of any kind, as it comes from a server of which nothing is known. */
// biome-ignore lint/suspicious/noExplicitAny: every field is looked at with doubt
type Unknown = Record<string, any>;

/** A call's answer if it is a JSON object. */
async function ask(connection: HttpConnection, path: string, signal: AbortSignal): Promise<Unknown | undefined> {
  try {
    const { status, text } = await connection.send({ path }, signal);
    const body: unknown = status === 200 ? JSON.parse(text) : undefined;
    return typeof body === "object" && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}

/** Most engines do not say what a model is for: one that embeds is an embedding model. */
async function describe(engine: Engine, model: EngineModel, signal: AbortSignal): Promise<DiscoveredModel> {
  if (model.kind === "generation") return { ...model, kind: "generation" };
  try {
    const request = { requestId: "discovery", model: model.id, inputs: ["."] };
    const { vectors } = await engine.embed(request, signal);
    return { ...model, kind: "embedding", ...(vectors[0] && { dimensions: vectors[0].length }) };
  } catch {
    return { ...model, kind: model.kind ?? "generation" };
  }
}
