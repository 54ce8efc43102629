import { existsSync, realpathSync } from "node:fs";
import { hostname } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isBinary, packagedFile } from "#lib/files/assets.ts";
import type { Environment } from "#src/config/environment.ts";
import { quoted } from "#src/fleet/engines/shared/inspection/command-line.ts";

/** The command that runs this program from another shell, in any working directory. */
export function invocation(environment: Environment): string {
  if (isBinary) {
    return quoted(process.execPath);
  }
  const launcher = fileURLToPath(packagedFile("bin/tollgate.js"));
  return isOnPath(launcher, environment) ? "tollgate" : `node ${quoted(launcher)}`;
}

/** As invocation, for a command about the core of a data directory, which a container knows itself. */
export function invocationFor(dataDir: string, environment: Environment, container?: Container): string {
  return container === undefined
    ? `TOLLGATE_DATA_DIR=${quoted(resolve(dataDir))} ${invocation(environment)}`
    : `${container.engine} exec ${container.name} ${invocation(environment)}`;
}

/** The container that this process runs in, as the surrounding machine knows it. */
export interface Container {
  readonly engine: "podman" | "docker";
  readonly name: string;
}

/** Undefined: this process runs in no container, or in one without a known name. */
export function readContainer(has: (path: string) => boolean = existsSync, host = hostname()): Container | undefined {
  const engine = has("/run/.containerenv") ? "podman" : has("/.dockerenv") ? "docker" : undefined;
  // Both engines set a container's host name to its id.
  return engine === undefined || !/^[0-9a-f]{12}$/.test(host) ? undefined : { engine, name: host };
}

/** npm and npx put their own folders on the path, which another shell does not have. */
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
