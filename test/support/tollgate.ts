import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { inspect, isDeepStrictEqual, promisify } from "node:util";
import { programVariable } from "../../scripts/test-services/program-variable.ts";
import { eventually } from "./eventually.ts";
import { runHere } from "./run-here.ts";

/** The launcher of the packed program, which `npm test` builds once a run. Without it, the clone's, whose start takes four times the CPU. */
export const program = process.env[programVariable] ?? fileURLToPath(new URL("../../bin/tollgate.js", import.meta.url));
/**
 * A cache of compiled code for the many starts of one program: each start becomes a third cheaper. That of `npm test` goes with the
 * program that it is of.
 */
const compiled =
  process.env.NODE_COMPILE_CACHE ?? fileURLToPath(new URL("../../node_modules/.cache/node-compile", import.meta.url));

/**
 * Every listener on a free loopback port, so that tests can run in parallel, and patience: on a machine that runs them a process
 * may come late by more than it refuses requests for, which a test that is about something else would take for a failure.
 */
export const freePorts = {
  overload: { max_lag_ms: 60_000, max_wait_ms: 60_000 },
  listen: {
    http: "127.0.0.1:0",
    grpc: "127.0.0.1:0",
    connect: "127.0.0.1:0",
    webhooks: "127.0.0.1:0",
    admin: "127.0.0.1:0",
  },
};

/** A folder for one service: data, configuration, secrets. */
export interface Site {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Writes a configuration (JSON is YAML) and returns its path. */
  configure(config: object, name?: string): Promise<string>;
  remove(): Promise<void>;
}

export async function createSite(env: NodeJS.ProcessEnv = {}): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-site-"));
  return {
    folder,
    env: {
      ...process.env,
      NODE_OPTIONS: "",
      NODE_COMPILE_CACHE: compiled,
      TOLLGATE_DATA_DIR: join(folder, "data"),
      ...env,
    },
    async configure(config, name = "tollgate.yaml") {
      const path = join(folder, name);
      await writeFile(path, JSON.stringify(config, null, 2));
      return path;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A running Tollgate process. */
export interface Tollgate {
  /** The addresses from its ready line: http, grpc, connect, admin. */
  readonly addresses: Record<string, string>;
  /** http://host:port of the public surfaces. */
  readonly url: string;
  /** All lines of its log so far. */
  readonly log: readonly Record<string, unknown>[];
  readonly process: ChildProcess;
  /**
   * Runs an admin command against this process's core and parses the JSON that it prints. The command runs in the
   * test's own process, because starting one takes longer than most tests. Rejects with the command's reason when it
   * fails.
   */
  admin(...args: string[]): Promise<unknown>;
  /** Its exit code, once it has ended. Null: a signal killed it. */
  readonly ended: Promise<number | null>;
  /** Ends the process and returns its exit code. A second signal ends it at once, with 1: who sent one waits for `ended`. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts `tollgate …args --log json` and waits until it is ready. Throws with its output when it fails to start. */
export async function startTollgate(site: Site, ...args: string[]): Promise<Tollgate> {
  const child = spawn(process.execPath, [program, ...args, "--log", "json"], {
    cwd: site.folder,
    env: site.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  // Its last lines have been read by then.
  const ended = once(child, "close").then(([code]) => code as number | null);
  const output: string[] = [];
  const log: Record<string, unknown>[] = [];
  child.stderr.on("data", (data: Buffer) => output.push(data.toString()));
  const ready = new Promise<Record<string, string>>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      output.push(`${line}\n`);
      if (!line.startsWith("{")) {
        return;
      }
      const entry = JSON.parse(line) as Record<string, string>;
      log.push(entry);
      if (entry.msg === "tollgate ready") {
        resolve(entry);
      }
    });
    ended.then((code) => reject(new Error(`tollgate ${args.join(" ")} ended with ${code}:\n${output.join("")}`)));
  });
  const addresses = await ready;
  return {
    addresses,
    url: `http://${addresses.http}`,
    log,
    process: child,
    ended,
    admin: async (...command) => {
      const { code, output, notes } = await runHere([...command, "--core", String(addresses.grpc), "--json"], site.env);
      if (code !== 0) {
        throw new Error(notes + output);
      }
      return JSON.parse(output);
    },
    stop(signal = "SIGTERM") {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal);
      }
      return ended;
    },
  };
}

/** Waits until a process has logged a line with these fields: lines arrive over a pipe with a delay. */
export async function logs({ log }: Tollgate, fields: object): Promise<void> {
  const isLogged = () => log.some((line) => isDeepStrictEqual({ ...line, ...fields }, line));
  await eventually(`${inspect(fields)} is logged`, isLogged);
}

/**
 * Waits until one of the processes has logged the calls of answered requests, and with them everything logged before.
 */
export async function logsCalls(processes: readonly Tollgate[], requestIds: readonly unknown[]): Promise<void> {
  await eventually("the calls are logged", () => {
    const logged = new Set(processes.flatMap(({ log }) => log.map(({ requestId }) => requestId)));
    return requestIds.every((id) => logged.has(id));
  });
}

/** Runs a command to its end. Rejects with code, stdout and stderr when it fails. */
export function runTollgate(site: Site, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, [program, ...args], { cwd: site.folder, env: site.env });
}

/**
 * A port for --port, such that the listeners' following ports are free, too. Below the range that Linux uses for
 * outgoing connections.
 */
export async function freeBasePort(): Promise<number> {
  for (let base = 20_000 + 10 * (process.pid % 1000); ; base += 10) {
    const free = await Promise.all(Array.from({ length: 6 }, (_, offset) => isFree(base + offset)));
    if (!free.includes(false)) {
      return base;
    }
    if (base > 32_000) {
      throw new Error("no six ports in a row are free");
    }
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
