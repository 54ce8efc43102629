import type { Config, ModelConfig, ServerConfig } from "../../config/schema.ts";
import { createEngine } from "../../engines/create-engine.ts";
import { type Engine, EngineFault } from "../../engines/interface.ts";
import { type Finding, PATIENCE_MS, reasonOf } from "./finding.ts";

/** Asks every inference server how it is and whether it serves what the configuration says. */
export async function checkServers({ models, fleet }: Config): Promise<Finding[]> {
  if (models.length === 0) {
    const message = "none configured: serve needs --server or --gguf, or simulates some; core serves none";
    return [{ part: "models", status: "warning", message }];
  }
  const servers = models.flatMap((model) => model.servers.map((server) => ({ server, model })));
  return Promise.all(servers.map(({ server, model }) => checkServer(server, model, fleet)));
}

async function checkServer(server: ServerConfig, model: ModelConfig, fleet: Config["fleet"]): Promise<Finding> {
  const part = `server ${server.url} (${model.id})`;
  let engine: Engine | undefined;
  try {
    engine = createEngine(server, model, fleet);
    const signal = AbortSignal.timeout(PATIENCE_MS);
    await engine.checkHealth(signal);
    const wrong =
      (await wrongModel(engine, server, model, signal)) ?? (await wrongVectors(engine, server, model, signal));
    if (wrong !== undefined) return { part, status: "wrong", message: wrong };
    return { part, status: "ok", message: `${server.engine} is healthy and serves ${nameOf(server, model)}` };
  } catch (error) {
    const mend = "check that it runs, its url and its engine";
    return { part, status: "wrong", message: `${whatHappened(error)}: ${mend}` };
  } finally {
    await engine?.close();
  }
}

async function wrongModel(
  engine: Engine,
  server: ServerConfig,
  model: ModelConfig,
  signal: AbortSignal,
): Promise<string | undefined> {
  const listed = await engine.listModels(signal);
  const name = nameOf(server, model);
  const found = listed.find((one) => one.id === name);
  if (!found) {
    const names = listed.map((one) => one.id).join(", ") || "none";
    return `does not serve ${name}, only ${names}: set model: of this server to one of these`;
  }
  if (found.contextLength === undefined || found.contextLength >= model.context_length) return undefined;
  return `takes ${found.contextLength} tokens, fewer than context_length ${model.context_length}: lower that, or raise the server's limit`;
}

async function wrongVectors(
  engine: Engine,
  server: ServerConfig,
  model: ModelConfig,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (model.kind !== "embedding") return undefined;
  const request = { requestId: "check", model: nameOf(server, model), inputs: ["check"] };
  const dimensions = (await engine.embed(request, signal)).vectors[0]?.length;
  if (dimensions === model.dimensions) return undefined;
  return `answers vectors of ${dimensions} dimensions, not ${model.dimensions}: set dimensions: of the model`;
}

function nameOf(server: ServerConfig, model: ModelConfig): string {
  return server.model ?? model.id;
}

function whatHappened(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return reasonOf(cause instanceof EngineFault ? cause : error);
}
