import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { pause } from "../support/pause.ts";
import { Unavailable } from "./unavailable.ts";

/** Lines of a program's log that tell why it ended. */
const lastLines = 6;

/** Runs a command to its end; its output goes to a file. Throws Unavailable with its last lines when it fails. */
export async function runCommand(
  [program = "", ...args]: readonly string[],
  options: { readonly log: string; readonly cwd?: string; readonly env?: NodeJS.ProcessEnv },
): Promise<void> {
  const log = openSync(options.log, "a");
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ["ignore", log, log],
  });
  const [code] = await once(child, "close").catch((error: Error) => [error.message]);
  closeSync(log);
  if (code !== 0) {
    throw new Unavailable(`\`${program.split("/").at(-1)} ${args[0] ?? ""}\` failed (${code}): ${lastOf(options.log)}`);
  }
}

/** The last lines of a log in one. */
export function lastOf(log: string): string {
  return readFileSync(log, "utf8").trim().split("\n").slice(-lastLines).join(" ").slice(-400);
}

/** A running inference server. */
export interface RunningProgram {
  /** Such as "http://127.0.0.1:40000". */
  readonly url: string;
  readonly log: string;
  /** Ends it at once, with all that it started, and without a word. */
  kill(): Promise<void>;
}

/** How a server is started on a port, and how it is seen to serve. */
export interface Start {
  readonly command: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly log: string;
  /** Answers 200 once it serves. */
  readonly readyPath: string;
  readonly readySeconds: number;
}

/** Starts a server and waits until it serves. Throws Unavailable when it ends first or takes too long. */
export async function startProgram(port: number, start: Start): Promise<RunningProgram> {
  const log = openSync(start.log, "w");
  const [program = "", ...args] = start.command;
  // A group of its own: engines start workers, which a kill has to reach.
  const child = spawn(program, args, {
    cwd: start.cwd,
    env: { ...process.env, ...start.env },
    stdio: ["ignore", log, log],
    detached: true,
  });
  closeSync(log);
  const ended = once(child, "exit").catch(() => {});
  const url = `http://127.0.0.1:${port}`;
  const kill = async () => {
    killGroup(child);
    await ended;
  };
  const deadline = performance.now() + start.readySeconds * 1000;
  while (!(await answers(url + start.readyPath))) {
    const isOver = child.exitCode !== null || child.signalCode !== null;
    if (isOver || performance.now() > deadline) {
      await kill();
      throw new Unavailable(`does not start${isOver ? "" : ` in ${start.readySeconds} s`}: ${lastOf(start.log)}`);
    }
    await pause(200, "between two looks");
  }
  return { url, log: start.log, kill };
}

function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid as number), "SIGKILL");
  } catch {
    // It has ended.
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5000) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
