import { type ChildProcess, fork, type Serializable, spawn } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer as createListener, type Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Another file of the benchmark in a process of its own. */
export interface Helper {
  readonly pid: number;
  /** The port that it reported. */
  readonly port: number;
  /** The next message that it sends, after sending it one. Throws when it ends instead. */
  ask<Answer>(message: Serializable): Promise<Answer>;
  stop(): Promise<void>;
}

/** In a helper: listens on a free loopback port and reports it to the parent. */
export function listenAndReport(server: Server): void {
  server.listen(0, "127.0.0.1", 4096, () => process.send?.({ port: (server.address() as AddressInfo).port }));
  process.on("disconnect", () => process.exit());
}

/** Starts a helper, a file named from test/bench, and waits for its port. */
export async function startHelper(file: string, args: readonly string[] = []): Promise<Helper> {
  const child = fork(new URL(`../${file}`, import.meta.url), args, {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  const { port } = await message<{ port: number }>(child, file);
  return {
    pid: child.pid ?? 0,
    port,
    ask<Answer>(question: Serializable) {
      const answer = message<Answer>(child, file);
      child.send(question);
      return answer;
    },
    stop: () => stop(child),
  };
}

function message<T>(child: ChildProcess, name: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`${name} ended with code ${code}`));
    child.once("exit", ended);
    child.once("message", (value) => {
      child.off("exit", ended);
      resolve(value as T);
    });
  });
}

/** A program under test whose output goes to a file, as under a supervisor. */
export interface Program {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a program and waits until its output holds a text; with no text, until `ready` resolves to true. */
export async function startProgram(
  command: readonly string[],
  options: {
    readonly log: string;
    readonly env?: NodeJS.ProcessEnv;
    readonly ready: (output: string) => boolean | Promise<boolean>;
    /** Whether it ends when the channel to its parent closes, so that nothing is left of a benchmark that was killed. */
    readonly leavesWithParent?: boolean;
  },
): Promise<Program> {
  const [file = "", ...args] = command;
  const log = openSync(options.log, "w");
  const child = spawn(file, args, {
    stdio: ["ignore", log, log, ...(options.leavesWithParent ? (["ipc"] as const) : [])],
    env: { ...process.env, npm_command: undefined, ...options.env },
  });
  const output = () => readFileSync(options.log, "utf8");
  for (const deadline = Date.now() + 60_000; !(await options.ready(output())); await sleep(50)) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop(child);
      throw new Error(`${command.join(" ")} did not become ready:\n${output().slice(-4000)}`);
    }
  }
  return { pid: child.pid ?? 0, stop: () => stop(child) };
}

/** Asks it to end, and ends it when it has not after ten seconds. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await ended;
  clearTimeout(late);
}

/** Ports that are free now; held together so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const listeners = Array.from({ length: count }, () => createListener());
  const ports: number[] = [];
  for (const listener of listeners) {
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    ports.push((listener.address() as AddressInfo).port);
  }
  await Promise.all(listeners.map((listener) => new Promise((resolve) => listener.close(resolve))));
  return ports;
}
