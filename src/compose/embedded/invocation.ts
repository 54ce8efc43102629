import { existsSync, realpathSync } from "node:fs";
import { hostname } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isBinary, packagedFile } from "../../../lib/assets.ts";
import type { Environment } from "../../config/environment.ts";

/** How another shell, in any working directory, runs this program. */
export function invocation(environment: Environment): string {
  if (isBinary) {
    return quote(process.execPath);
  }
  const launcher = fileURLToPath(packagedFile("bin/tollgate.js"));
  return isOnPath(launcher, environment) ? "tollgate" : `node ${quote(launcher)}`;
}

/** As invocation, for a command that concerns the core of a data directory, which a container knows by itself. */
export function invocationFor(dataDir: string, environment: Environment, container?: Container): string {
  return container === undefined
    ? `TOLLGATE_DATA_DIR=${quote(resolve(dataDir))} ${invocation(environment)}`
    : `${container.engine} exec ${container.name} ${invocation(environment)}`;
}

/** The container that this process runs in, as the machine around it knows it. */
export interface Container {
  readonly engine: "podman" | "docker";
  readonly name: string;
}

/** Undefined: this process runs in none, or in one that tells no name. */
export function readContainer(has: (path: string) => boolean = existsSync, host = hostname()): Container | undefined {
  const engine = has("/run/.containerenv") ? "podman" : has("/.dockerenv") ? "docker" : undefined;
  // Both name the host of a container after its id.
  return engine === undefined || !/^[0-9a-f]{12}$/.test(host) ? undefined : { engine, name: host };
}

/** npm and npx put folders of their own on the path, which another shell does not have. */
function isOnPath(launcher: string, { PATH = "", npm_command }: Environment): boolean {
  return (
    npm_command === undefined && PATH.split(delimiter).some((folder) => isSame(join(folder, "tollgate"), launcher))
  );
}

function isSame(path: string, launcher: string): boolean {
  try {
    return realpathSync(path) === launcher;
  } catch {
    return false;
  }
}

/** A word of a shell's command line. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
