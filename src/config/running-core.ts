import { readFileSync, rmSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { ConfigError } from "./config-error.ts";

/** Where a core that runs can be reached, as it says in its data directory. */
export interface RunningCore {
  readonly pid: number;
  /** The machine, or the container, that its process id counts on. */
  readonly host: string;
  /** host:port of each listener that is open. */
  readonly http?: string;
  readonly console?: string;
  readonly grpc: string;
  readonly connect?: string;
  readonly webhooks?: string;
  readonly admin?: string;
}

/** The file in a data directory that says where its core runs. */
export function runningFile(dataDir: string): string {
  return join(dataDir, "running.json");
}

/**
 * Writes where this process serves, for its user alone; the process's end removes it. Of several cores that share a data
 * directory the newest is found there.
 */
export async function announceRunning(dataDir: string, addresses: Readonly<Record<string, string>>): Promise<void> {
  const file = runningFile(dataDir);
  const draft = `${file}.${process.pid}`;
  const text = `${JSON.stringify({ pid: process.pid, host: hostname(), ...addresses })}\n`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
  process.once("exit", () => removeOwn(file, text));
}

/** The core of a data directory. Undefined: none says that it runs, or it runs on another machine. Throws ConfigError. */
export async function readRunning(dataDir: string): Promise<RunningCore | undefined> {
  const file = runningFile(dataDir);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") {
      return undefined;
    }
    throw new ConfigError(`${file}: cannot be read: ${code ?? error}`);
  }
  const running = parseRunning(text);
  if (running === undefined) {
    throw new ConfigError(`${file}: does not say where a core runs: remove it, or name the core with --core`);
  }
  return running.host === hostname() ? running : undefined;
}

/** Whether its process is there. */
export function isAlive({ pid }: Pick<RunningCore, "pid">): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // another user's
  }
}

function parseRunning(text: string): RunningCore | undefined {
  try {
    const { pid, host, grpc, ...others } = JSON.parse(text) as RunningCore;
    const isWhole = Number.isSafeInteger(pid) && pid > 0 && typeof host === "string" && typeof grpc === "string";
    return isWhole ? { ...others, pid, host, grpc } : undefined;
  } catch {
    return undefined;
  }
}

/** Leaves alone what a newer core wrote. */
function removeOwn(file: string, text: string): void {
  try {
    if (readFileSync(file, "utf8") === text) {
      rmSync(file);
    }
  } catch {
    // It is gone, and what cannot be removed is found out to be stale.
  }
}
