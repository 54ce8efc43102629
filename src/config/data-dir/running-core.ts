import { readFileSync, rmSync } from "node:fs";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../config-error.ts";

/** The addresses of a running core, as its data directory has them. */
export interface RunningCore {
  readonly pid: number;
  /** The machine, or the container, that its process id belongs to. */
  readonly host: string;
  /** host:port of each listener that is open. */
  readonly http?: string;
  readonly console?: string;
  readonly grpc: string;
  readonly connect?: string;
  readonly webhooks?: string;
  readonly admin?: string;
  /** Where people find the console, as the configuration has it. */
  readonly site?: string;
}

/** The file in a data directory that tells where its core runs. */
export function runningFile(dataDir: string): string {
  return join(dataDir, "running.json");
}

/** The file of a core whose place in the data directory a newer core has taken. */
const asideFile = (dataDir: string, pid: number) => join(dataDir, `running.${pid}.json`);

/**
 * Writes this process's addresses, for its user only. The end of the process removes them. When several cores share a
 * data directory, the newest is found there, and an older one again when the newest is gone.
 */
export async function announceRunning(dataDir: string, addresses: Readonly<Record<string, string>>): Promise<void> {
  await makeRoom(dataDir);
  const file = runningFile(dataDir);
  const draft = `${file}.${process.pid}`;
  const text = `${JSON.stringify({ pid: process.pid, host: hostname(), ...addresses })}\n`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
  process.once("exit", () => {
    removeOwn(file, text);
    removeOwn(asideFile(dataDir, process.pid), text);
  });
}

/** Moves a living core's file aside, and removes those of dead cores. */
async function makeRoom(dataDir: string): Promise<void> {
  const file = runningFile(dataDir);
  const before = await readFile(file, "utf8").then(parseRunning, () => undefined);
  if (before !== undefined && isHere(before) && before.pid !== process.pid && isAlive(before)) {
    await rename(file, asideFile(dataDir, before.pid)).catch(() => {}); // it has just ended
  }
  for (const { path, running } of await readAside(dataDir)) {
    if (!isAlive(running)) {
      await rm(path, { force: true });
    }
  }
}

/** The files of cores of this machine whose place a newer core has taken. */
async function readAside(dataDir: string): Promise<{ readonly path: string; readonly running: RunningCore }[]> {
  const names = await readdir(dataDir).catch(() => []);
  const files = names.filter((name) => /^running\.\d+\.json$/.test(name)).map((name) => join(dataDir, name));
  const read = files.map(async (path) => ({
    path,
    running: parseRunning(await readFile(path, "utf8").catch(() => "")),
  }));
  const found = await Promise.all(read);
  return found.flatMap(({ path, running }) => (running !== undefined && isHere(running) ? [{ path, running }] : []));
}

/**
 * The core of a data directory: the newest living one, otherwise the newest. Undefined: no core runs there, or it runs
 * on another machine. Throws ConfigError.
 */
export async function readRunning(dataDir: string): Promise<RunningCore | undefined> {
  const newest = await readNewest(dataDir);
  if (newest !== undefined && isAlive(newest)) {
    return newest;
  }
  const older = await readAside(dataDir);
  return older.find(({ running }) => isAlive(running))?.running ?? newest;
}

async function readNewest(dataDir: string): Promise<RunningCore | undefined> {
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
  return isHere(running) ? running : undefined;
}

const isHere = ({ host }: RunningCore) => host === hostname();

/** Whether its process exists. */
export function isAlive({ pid }: Pick<RunningCore, "pid">): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // another user's process
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

/** Removes only this process's own file: a newer core may have written another. */
function removeOwn(file: string, text: string): void {
  try {
    if (readFileSync(file, "utf8") === text) {
      rmSync(file);
    }
  } catch {
    // The file is gone, or cannot be removed and will be recognized as stale.
  }
}
