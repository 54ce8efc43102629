import { systemRandom } from "#lib/ids/random.ts";
import { type EngineName, engineNames } from "#lib/inference/engine-names.ts";
import { systemClock } from "#lib/time/clock.ts";
import type { Engine, EngineModel } from "../interface.ts";
import { HttpConnection } from "../shared/http/connection.ts";
import type { EngineSettings } from "../shared/settings.ts";
import { registry } from "./registry.ts";

/** A model that was found on a server. */
export interface DiscoveredModel {
  readonly id: string;
  readonly kind: "generation" | "embedding";
  /** Undefined: the server does not report it. */
  readonly contextLength?: number;
  /** The dimensions of an embedding model's vectors. Absent: a generation model. */
  readonly dimensions?: number;
}

/** An inference server that was found. */
export interface DiscoveredServer {
  readonly url: string;
  readonly engine: EngineName;
  readonly models: readonly DiscoveredModel[];
}

/** The signs of each engine. */
const known = engineNames.map((engine) => ({ engine, ...registry[engine].detect }));

/** The engine assumed for a server that lists models but shows no engine's signs. */
const unknown: EngineName = "openai";

/** Milliseconds: a server on this machine answers sooner, or there is none. */
const localTimeoutMs = 1000;

/** Generous limits, so that slow servers are found, too. */
const settings: EngineSettings = {
  kind: "generation",
  capacity: 4,
  connections: 8,
  clock: systemClock,
  connectTimeoutMs: 2000,
  silenceTimeoutMs: 30_000,
  systemAnywhere: false,
  contextLength: Number.POSITIVE_INFINITY,
};

/**
 * Finds out which engine listens at a URL and what it serves. Throws an error with a text for people when none does.
 */
export async function discoverServer(url: string, signal: AbortSignal): Promise<DiscoveredServer> {
  const engine = await detectEngine(url, signal);
  if (engine === undefined) {
    throw new Error(`no inference server answers at ${url}: is it running?`);
  }
  const adapter = registry[engine].create(url, settings);
  try {
    const listed = await adapter.listModels(signal).catch(() => []);
    const models = await Promise.all(listed.map((model) => describe(adapter, model, signal)));
    if (models.length === 0) {
      const entry = `{ id: NAME, servers: [{ url: "${url}", engine: ${engine} }] }`;
      throw new Error(
        `the inference server at ${url} lists no model: load one, or name the one that it has in a configuration, models: [${entry}], and start with --config`,
      );
    }
    return { url, engine, models };
  } finally {
    await adapter.close();
  }
}

/** Finds inference servers of known engines on their usual ports of this machine. */
export async function findLocalServers(except: readonly number[] = []): Promise<DiscoveredServer[]> {
  const ports = known.flatMap(({ port }) => (port === undefined || except.includes(port) ? [] : [port]));
  const found = await Promise.all(
    ports.map((port) =>
      discoverServer(`http://127.0.0.1:${port}`, AbortSignal.timeout(localTimeoutMs)).catch(() => undefined),
    ),
  );
  return found.filter((server) => server !== undefined).filter(({ engine }) => engine !== unknown);
}

async function detectEngine(url: string, signal: AbortSignal): Promise<EngineName | undefined> {
  const connection = new HttpConnection(url, settings);
  try {
    const list = await ask(connection, "/v1/models", signal);
    const owned = list?.data?.[0]?.owned_by;
    const owner = known.find((one) => one.owner !== undefined && one.owner === owned);
    if (owner !== undefined) {
      return owner.engine;
    }
    const recognised = await Promise.all(
      known.map(async ({ engine, call }) => {
        const answer = call && (await ask(connection, call.path, signal));
        return call && answer?.[call.field] !== undefined ? engine : undefined;
      }),
    );
    const answering = recognised.find((engine) => engine !== undefined);
    if (answering !== undefined) {
      return answering;
    }
    return Array.isArray(list?.data) || (await answers(connection, "/health", signal)) ? unknown : undefined;
  } finally {
    await connection.close();
  }
}

/** A JSON object whose fields may be anything, as it comes from an unknown server. */
// biome-ignore lint/suspicious/noExplicitAny: every field is looked at with doubt
type Unknown = Record<string, any>;

/** A call's answer. Undefined: the answer is not a JSON object, or not a success. */
async function ask(connection: HttpConnection, path: string, signal: AbortSignal): Promise<Unknown | undefined> {
  try {
    const { status, text } = await connection.send({ path }, signal);
    const body: unknown = status === 200 ? JSON.parse(text) : undefined;
    return typeof body === "object" && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a call is answered with success, whatever the body. */
async function answers(connection: HttpConnection, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await connection.send({ path }, signal)).status === 200;
  } catch {
    return false;
  }
}

/** Describes a model. Most engines do not say what a model is for: a model that embeds counts as an embedding model. */
async function describe(engine: Engine, model: EngineModel, signal: AbortSignal): Promise<DiscoveredModel> {
  if (model.kind === "generation") {
    return { ...model, kind: "generation" };
  }
  try {
    const request = { runId: `discovery-${systemRandom.uuid()}`, model: model.id, inputs: ["."] };
    const { vectors } = await engine.embed(request, signal);
    return { ...model, kind: "embedding", ...(vectors[0] && { dimensions: vectors[0].length }) };
  } catch {
    return { ...model, kind: model.kind ?? "generation" };
  }
}
