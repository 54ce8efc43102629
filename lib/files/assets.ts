import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { getAsset, getAssetKeys, getRawAsset, isSea } from "node:sea";
import { fileURLToPath } from "node:url";
import { Worker, type WorkerOptions } from "node:worker_threads";
import { quietThread } from "../workarounds/sqlite-warning.ts";

/** True in the single binary, which contains all its files. */
export const isBinary = isSea();

/** True when the program is bundled JavaScript, below `dist`, rather than the TypeScript of a clone. */
const isBundled = !import.meta.url.endsWith(".ts");

/** True in a clone of the repository, whether it runs its sources or what was built from them. */
export const isClone = !isBinary && existsSync(packagedFile("src/main.ts"));

/**
 * The URL of a file that comes with the program, by its path below the repository's root. A binary has no such files
 * outside of itself.
 */
export function packagedFile(path: string): URL {
  return new URL(path, new URL("../../", import.meta.url));
}

/** The text of a file that comes with the program, such as `gen/openapi.json`. */
export function readPackaged(path: string): string {
  return isBinary ? getAsset(path, "utf8") : readFileSync(packagedFile(path), "utf8");
}

/**
 * The files of a folder that comes with the program, by their paths below it. A folder that is not inside the binary
 * may be in `share/tollgate` beside the binary's folder, as in the image. Empty: there is no such folder.
 */
export function readPackagedFolder(path: string): Map<string, Uint8Array> {
  if (!isBinary) {
    return readFolder(fileURLToPath(packagedFile(`${path}/`)));
  }
  const inside = getAssetKeys().filter((key) => key.startsWith(`${path}/`));
  return inside.length === 0
    ? readFolder(join(dirname(process.execPath), "..", "share", "tollgate", path, sep))
    : new Map(inside.map((key) => [key.slice(path.length + 1), new Uint8Array(getRawAsset(key))]));
}

/** The folder's path must end with a separator. */
function readFolder(folder: string): Map<string, Uint8Array> {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const files = entries.map(({ parentPath, name }) => `${parentPath.replace(/[\\/]$/, "")}${sep}${name}`);
    return new Map(files.map((file) => [file.slice(folder.length).replaceAll(sep, "/"), readFileSync(file)]));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return new Map();
    }
    throw error;
  }
}

/** The URL of a module of the program, by its path without an ending, such as `src/main`. */
function programModule(path: string): URL {
  return packagedFile(isBundled ? `dist/${path}.js` : `${path}.ts`);
}

/** Starts a module of the program as a thread. The path is as for programModule. */
export function startThread(path: string, options: WorkerOptions): Worker {
  if (!isBinary) {
    return new Worker(programModule(path), { ...quietThread, ...options });
  }
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(getAsset(path, "utf8"))}`), options);
}
