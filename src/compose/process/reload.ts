import { isDeepStrictEqual } from "node:util";
import type { Logger } from "#lib/logger.ts";
import { ConfigError } from "#src/config/config-error.ts";
import type { Config } from "#src/config/schema.ts";
import type { Reloaded } from "#src/services/operators/settings-service.ts";
import type { Core } from "../core/interface.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** The sections that a running core takes over. All others are read only at the start. */
const reloadable: Partial<Record<keyof Config, true>> = { models: true, rate_tiers: true };

/**
 * Reads the configuration file again whenever SIGHUP comes, or an operator asks. A wrong file is refused as a whole: the log says why, and
 * everything stays as it is. Running streams end on the servers that they began on.
 */
export function reloadOnHangup(
  { file, load }: { readonly file: string; readonly load: () => Promise<Config> },
  started: Config,
  core: Pick<Core, "reload" | "reading">,
  lifecycle: Lifecycle,
  logger: Logger,
): void {
  const reload = async (): Promise<Reloaded> => {
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
      return { models: config.models.length, sectionsToRestartFor: sections };
    } catch (error) {
      logger.error(
        { reason: error instanceof Error ? error.message : error },
        "configuration refused, the old one stays",
      );
      throw error;
    }
  };
  let last: Promise<unknown> = Promise.resolve();
  const reloadNext = (): Promise<Reloaded> => {
    const next = last.then(reload); // one reload after the other
    last = next.catch(() => {});
    return next;
  };
  core.reading.again = reloadNext;
  lifecycle.onHangup(() => void reloadNext().catch(() => {})); // the log says why
}

function sectionsToRestartFor(started: Config, config: Config): string[] {
  // The limits of the free tier are taken over like those of the tiers.
  const comparable = (of: Config): Config => ({ ...of, free_tier: { ...of.free_tier, rpm: 1, in_flight: 1 } });
  const [before, now] = [comparable(started), comparable(config)];
  const sections = Object.keys(now) as (keyof Config)[];
  return sections.filter((section) => !reloadable[section] && !isDeepStrictEqual(before[section], now[section]));
}
