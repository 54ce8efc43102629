import { systemClock } from "#lib/time/clock.ts";
import type { Config } from "#src/config/schema.ts";
import { createEngine } from "#src/fleet/engines/drivers/create-engine.ts";
import { inspectServer, startCommand } from "#src/fleet/engines/drivers/inspect-server.ts";
import { type Engine, EngineFault, type EngineModel } from "#src/fleet/engines/interface.ts";
import {
  type Inspection,
  type Remark,
  type Subject,
  servedName,
  warning,
  wrong,
} from "#src/fleet/engines/shared/inspection/inspection.ts";
import { plainText } from "#src/fleet/engines/shared/inspection/told.ts";
import { type Finding, patienceMs, type Status, toReason } from "../finding.ts";
import { tryEmbedding } from "./embedding-trial.ts";

/** The result of checking an inference server. */
export interface ServerFinding extends Finding {
  readonly engine: string;
  /** Null: the server does not report it. */
  readonly version: string | null;
  /** Its limits and settings, as far as it reports them. */
  readonly facts: readonly { readonly name: string; readonly value: string | number | boolean }[];
  /** Everything that is wrong or risky. The worst remark is the message. */
  readonly remarks: readonly { readonly status: Remark["status"]; readonly message: string }[];
  /** The command line that starts this engine for this model. Null: none is known. */
  readonly start: string | null;
}

/** How long a trial may take: the server computes, perhaps for the first time since its start. In milliseconds. */
const trialMs = 60_000;

/** Checks every inference server: its health, its facts, and that it serves the configured models. */
export async function checkServers({ models, fleet }: Config): Promise<Finding[]> {
  if (models.length === 0) {
    const message = "none configured: serve needs --server or --gguf, or simulates some; core serves none";
    return [{ part: "models", status: "warning", message }];
  }
  const subjects = models.flatMap((model) => model.servers.map((server) => ({ server, model })));
  return Promise.all(subjects.map((subject) => checkServer(subject, fleet)));
}

async function checkServer(subject: Subject, fleet: Config["fleet"]): Promise<ServerFinding> {
  const { server, model } = subject;
  const { version, facts, remarks } = await lookAt(subject, fleet);
  const worst = remarks.find(({ status }) => status === "wrong") ?? remarks[0];
  const status: Status = worst?.status ?? "ok";
  const found = [server.engine, version].filter(Boolean).join(" ");
  return {
    part: `server ${server.url} (${model.id})`,
    status,
    message: worst?.message ?? `${found} is healthy and serves ${servedName(subject)}`,
    engine: server.engine,
    version: version ?? null,
    facts: Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }])),
    remarks: remarks.map((remark) => ({ ...remark })),
    start: startCommand(subject) ?? null,
  };
}

/** A server that does not work, or serves something else, is not inspected further. */
async function lookAt(subject: Subject, fleet: Config["fleet"]): Promise<Inspection> {
  let engine: Engine | undefined;
  try {
    engine = createEngine(subject.server, subject.model, fleet, systemClock);
    const signal = AbortSignal.timeout(patienceMs);
    await engine.checkHealth(signal);
    const listed = await judgeList(engine, subject, signal);
    if (listed.some(({ status }) => status === "wrong")) {
      return { facts: {}, remarks: listed };
    }
    const trial = AbortSignal.timeout(trialMs);
    const inspection = await inspectServer(subject, fleet.connect_timeout_s * 1000, trial);
    const remarks = [...(await tryEmbedding(engine, subject, trial)), ...inspection.remarks, ...listed];
    return { ...inspection, remarks };
  } catch (error) {
    const what = whatHappened(error);
    const refused = /answered 40[13]\b/.test(what);
    const message = `${what}: ${refused ? "set api_key_file: of this server" : "check that it runs, its url and its engine"}`;
    return { facts: {}, remarks: [{ status: "wrong", message }] };
  } finally {
    await engine?.close();
  }
}

/** Checks that the model is among those that the server lists. */
async function judgeList(engine: Engine, subject: Subject, signal: AbortSignal): Promise<Remark[]> {
  const { model, server } = subject;
  if (server.url.startsWith("file:")) {
    return []; // it serves the model in the file
  }
  const name = servedName(subject);
  const listed = await listModels(engine, server.engine, signal);
  if (listed.length === 0 && server.engine === "openai") {
    return [
      warning(`lists no models, as transformers serve does for one from a folder: whether it is ${name} is not known`),
    ];
  }
  const found = listed.find((one) => one.id === name);
  if (!found) {
    const names = plainText(listed.map((one) => one.id).join(", ")) || "none";
    return [wrong(`does not serve ${name}, only ${names}: set model: of this server to one of these`)];
  }
  const { contextLength = model.context_length } = found;
  if (contextLength >= model.context_length) {
    return [];
  }
  return [
    wrong(
      `takes ${contextLength} tokens, fewer than context_length ${model.context_length}: lower that, or raise the server's limit`,
    ),
  ];
}

/** The models that a server lists. A healthy server of an unknown engine may fail to list them. */
async function listModels(engine: Engine, name: string, signal: AbortSignal): Promise<readonly EngineModel[]> {
  try {
    return await engine.listModels(signal);
  } catch (error) {
    if (name !== "openai" || signal.aborted) {
      throw error;
    }
    return [];
  }
}

function whatHappened(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return toReason(cause instanceof EngineFault ? cause : error);
}
