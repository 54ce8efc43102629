import { isDeepStrictEqual } from "node:util";
import type { Logger } from "#lib/logger.ts";
import { ConfigError } from "#src/config/config-error.ts";
import type { Config } from "#src/config/schema.ts";
import type { Core } from "../core/interface.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** The sections that a running core takes over. All others are read only at the start. */
const reloadable: Partial<Record<keyof Config, true>> = { models: true, rate_tiers: true };

/**
 * Reads the configuration file again whenever SIGHUP comes. A wrong file is refused as a whole: the log says why, and
 * everything stays as it is. Running streams end on the servers that they began on.
 */
export function reloadOnHangup(
  { file, load }: { readonly file: string; readonly load: () => Promise<Config> },
  started: Config,
  core: Pick<Core, "reload">,
  lifecycle: Lifecycle,
  logger: Logger,
): void {
  const reload = async () => {
    try {
      const config = await load();
      if (config.models.length === 0) {
        throw new ConfigError(`${file}: models: must have at least 1 entry`);
      }
      await core.reload(config);
      const sections = sectionsToRestartFor(started, config);
      if (sections.length > 0) {
        logger.warn({ sections }, "some changes need a restart");
      }
      logger.info({ models: config.models.length }, "configuration reloaded");
    } catch (error) {
      logger.error(
        { reason: error instanceof Error ? error.message : error },
        "configuration refused, the old one stays",
      );
    }
  };
  let last = Promise.resolve();
  lifecycle.onHangup(() => {
    last = last.then(reload); // one reload after the other
  });
}

function sectionsToRestartFor(started: Config, config: Config): string[] {
  // The limits of the free tier are taken over like those of the tiers.
  const comparable = (of: Config): Config => ({ ...of, free_tier: { ...of.free_tier, rpm: 1, in_flight: 1 } });
  const [before, now] = [comparable(started), comparable(config)];
  const sections = Object.keys(now) as (keyof Config)[];
  return sections.filter((section) => !reloadable[section] && !isDeepStrictEqual(before[section], now[section]));
}
