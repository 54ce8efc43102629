import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Where the engines are kept between runs: `TOLLGATE_ENGINES_CACHE`, or a folder of the user's cache. */
export const cacheFolder =
  process.env.TOLLGATE_ENGINES_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "tollgate", "engines");

/** A folder of the cache, made if need be. */
export function cached(...names: readonly string[]): string {
  const folder = join(cacheFolder, ...names);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The log of a step. */
export const logOf = (name: string): string => join(cached("logs"), `${name}.log`);
