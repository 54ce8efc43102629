import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { isBuilt } from "../../../bin/built.js";
import { nodeOptions } from "../measure/node-options.ts";
import { freePorts, type Program, startProgram } from "../measure/processes.ts";
import type { Inside, Part, Running, Surroundings } from "./interface.ts";
import { usualPaths } from "./interface.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
/** The program as the package ships it where `npm run build` has made it of these sources, else the sources. */
const program = join(root, isBuilt(root) ? "dist/src/main.js" : "src/main.ts");
const generationModels = ["burst", "eager", "steady", "paced", "slow"];
const operatorToken = "operator-token-of-the-benchmark-0123456789";

/** A Tollgate to be started: its configuration file, its ports and its environment. */
export interface Setup {
  readonly config: string;
  /** The configuration of a facade apart: only where it listens. */
  readonly facade: string;
  readonly ports: Readonly<Record<"http" | "grpc" | "connect" | "admin" | "facadeAdmin", number>>;
  readonly env: NodeJS.ProcessEnv;
  readonly directory: string;
  /** Tells processes apart that run the same command. */
  readonly suffix: string;
}

/**
 * Writes a configuration that serves the load target's models, with limits that a load does not meet. It stores in
 * SQLite unless the environment says otherwise. `shared`: its HTTP port is shared, a free one or that of the first.
 */
export async function prepare(
  { enginePort, directory, models = [], config: more = {} }: Surroundings,
  env: NodeJS.ProcessEnv = {},
  suffix = "",
  shared?: { readonly http?: number },
): Promise<Setup> {
  mkdirSync(directory, { recursive: true });
  const [free = 0, grpc = 0, connect = 0, admin = 0, facadeAdmin = 0] = await freePorts(5);
  const http = shared?.http ?? free;
  const server = { url: `http://127.0.0.1:${enginePort}`, engine: "vllm", capacity: 100_000 };
  // JSON is YAML.
  const config = {
    listen: {
      http: `127.0.0.1:${http}`,
      grpc: `127.0.0.1:${grpc}`,
      connect: `127.0.0.1:${connect}`,
      admin: `127.0.0.1:${admin}`,
      reuse_port: shared !== undefined,
    },
    storage: { url: `sqlite:${join(directory, "tollgate.db")}` },
    rate_tiers: [{ rpm: 10_000_000 }],
    free_tier: { grant_usd: "0" },
    payments: { minimum_usd: "5", maximum_usd: "9000", rolling_24h_usd: "9000" },
    models: [
      ...generationModels.map((id) => ({ id, context_length: 131_072, max_output: 32_768, servers: [server] })),
      { id: "embed", kind: "embedding", context_length: 8192, price: { input: "0.01" }, servers: [server] },
      ...models,
    ],
    ...more,
  };
  const file = join(directory, "tollgate.yaml");
  writeFileSync(file, JSON.stringify(config, null, 2));
  const facade = join(directory, "facade.yaml");
  const listen = { http: `127.0.0.1:${http}`, admin: `127.0.0.1:${facadeAdmin}` };
  writeFileSync(facade, JSON.stringify({ listen }, null, 2));
  const own = {
    TOLLGATE_DATA_DIR: directory,
    TOLLGATE_OPERATOR_TOKEN: operatorToken,
    TOLLGATE_KEY_PEPPER: "pepper-of-the-benchmark-0123456789abcdef",
  };
  const ports = { http, grpc, connect, admin, facadeAdmin };
  return { config: file, facade, ports, env: { ...own, ...env }, directory, suffix };
}

/** One of Tollgate's processes. */
export interface Started extends Program {
  readonly part: Part;
}

/** Starts one of Tollgate's commands and waits until it says that it is ready. */
export async function startTollgate(setup: Setup, command: string, ...args: string[]): Promise<Started> {
  const log = join(setup.directory, `${command}.log`);
  const started = await startProgram([process.execPath, ...nodeOptions(), program, command, ...args, "--log", "json"], {
    log,
    env: setup.env,
    ready: (output) => output.includes("tollgate ready"),
    leavesWithParent: true,
  });
  const admin = command === "facade" ? setup.ports.facadeAdmin : setup.ports.admin;
  const part = { name: command + setup.suffix, pid: started.pid, metrics: `http://127.0.0.1:${admin}/metrics`, log };
  return { ...started, part };
}

/** What is known of a Tollgate whose parts run: its first core is asked, its fronts take the load. */
export async function describe(
  core: Setup,
  fronts: readonly Setup[],
  parts: readonly Started[],
): Promise<Omit<Running, "stop" | "processes"> & { inside: Inside }> {
  return {
    host: "127.0.0.1",
    ports: fronts.map(({ ports }) => ports.http),
    headers: { authorization: `Bearer ${await createKey(core, "benchmark")}` },
    otherHeaders: { authorization: `Bearer ${await createKey(core, "other")}` },
    paths: usualPaths,
    inside: {
      connect: `http://127.0.0.1:${core.ports.connect}`,
      operatorToken,
      parts: parts.map(({ part }) => part),
    },
  };
}

/** An account with plenty of money, and a key to it. */
async function createKey(setup: Setup, name: string): Promise<string> {
  const tollgate = async (...args: string[]) => {
    const all = [program, ...args, "--json", "--core", `127.0.0.1:${setup.ports.grpc}`];
    const { stdout } = await promisify(execFile)(process.execPath, all, { env: { ...process.env, ...setup.env } });
    return JSON.parse(stdout);
  };
  const { id } = await tollgate("accounts", "create", "--name", name);
  await tollgate("accounts", "top-up", id, "--usd", "9000", "--ref", name);
  const { key } = await tollgate("keys", "create", id, "--rpm", "10000000");
  return key;
}
