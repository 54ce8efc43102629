import { execFile } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Peer } from "./interface.ts";

/** Where peers are installed: outside the repository, kept between runs. */
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "tollgate-bench");

/** The folder of a peer's installed version, which a first run fills. Throws why it cannot be installed. */
export async function installed(peer: Peer): Promise<string> {
  const folder = join(cache, `${peer.name}-${peer.version}`);
  const done = join(folder, ".installed");
  if (!existsSync(done)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    await peer.install(folder);
    writeFileSync(done, "");
  }
  return folder;
}

/** Runs a command of an installation. Throws the end of what it said when it fails. */
export async function execute(folder: string, command: string, ...args: string[]): Promise<void> {
  try {
    await promisify(execFile)(command, args, { cwd: folder, maxBuffer: 64 << 20 });
  } catch (error) {
    const { stderr = "", message } = error as Error & { stderr?: string };
    const said = stderr.trim().split("\n").slice(-2).join(" ") || message;
    throw new Error(`${command} ${args[0] ?? ""}: ${said}`);
  }
}

/** Installs a Python program in an environment of its own. */
export async function pip(folder: string, requirement: string): Promise<void> {
  await execute(folder, "python3", "-m", "venv", "venv");
  await execute(folder, join(folder, "venv/bin/pip"), "install", "--quiet", "--only-binary=:all:", requirement);
}
