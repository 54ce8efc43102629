import { readDataDir } from "#src/config/data-dir/data-dir.ts";
import { defaultConfig, loadConfig } from "#src/config/load.ts";
import { readStorageUrl } from "#src/config/secrets/secrets.ts";
import type { Io } from "../shared/io.ts";

/** Where a service keeps its money. */
export interface Place {
  readonly dataDir: string;
  readonly url: string;
  /** The file of SQLite. Undefined: a server of PostgreSQL. */
  readonly file: string | undefined;
}

export async function findPlace(config: string | undefined, { environment }: Pick<Io, "environment">): Promise<Place> {
  const dataDir = await readDataDir(environment);
  const settings = config === undefined ? defaultConfig() : await loadConfig(config);
  const url = await readStorageUrl(settings, environment, dataDir);
  const file = url.startsWith("sqlite:") ? url.slice("sqlite:".length) : undefined;
  if (file === ":memory:") {
    throw new Error("a database in memory is in no file");
  }
  return { dataDir, url, file };
}
