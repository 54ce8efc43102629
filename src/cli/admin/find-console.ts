import { readDataDir } from "#src/config/data-dir/data-dir.ts";
import { isAlive, readRunning } from "#src/config/data-dir/running-core.ts";
import type { Environment } from "#src/config/environment.ts";

/** Where other people find the console of the core that runs on the data directory. Throws when that is not known. */
export async function findSite(environment: Environment, options: { readonly ca?: string }): Promise<string> {
  const running = await readRunning(await readDataDir(environment));
  return running?.site !== undefined && isAlive(running) ? running.site : findConsole(environment, options);
}

/** The console's URL for the core that runs on the data directory. Throws when there is none. */
export async function findConsole(environment: Environment, { ca }: { readonly ca?: string }): Promise<string> {
  const running = await readRunning(await readDataDir(environment));
  if (running?.console === undefined || !isAlive(running)) {
    throw new Error("no console runs on the data directory: name where browsers find it with --url");
  }
  const address = running.console.replace(/^0\.0\.0\.0:/, "127.0.0.1:").replace(/^\[::\]:/, "[::1]:");
  return `${ca === undefined ? "http" : "https"}://${address}`;
}
