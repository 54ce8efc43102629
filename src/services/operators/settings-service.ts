import type { ServiceImpl } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { SettingsService } from "#gen/tollgate/settings/v1/settings_service_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Setting } from "#src/config/effective.ts";

/** What a reload took over. */
export interface Reloaded {
  readonly models: number;
  /** The changed sections that a start alone takes over. */
  readonly sectionsToRestartFor: readonly string[];
}

/** Reads the configuration file again. Throws, and changes nothing, when it is wrong. Undefined: there is no file. */
export type ReadAgain = (() => Promise<Reloaded>) | undefined;

/** Shows the configuration that the core started with, secrets hidden, and reads it again. */
export function createSettingsService(
  settings: readonly Setting[],
  readAgain: () => ReadAgain,
): ServiceImpl<typeof SettingsService> {
  return {
    getSettings: () => ({
      settings: settings.map(({ setting, value, source }) => ({ name: setting, value: String(value), origin: source })),
    }),

    async reload() {
      const read = readAgain();
      if (read === undefined) {
        throw failure(
          Reason.UNSUPPORTED,
          "No configuration file names the models of this core, so there is none to read again.",
        );
      }
      try {
        const { models, sectionsToRestartFor } = await read();
        return { models, sectionsToRestartFor: [...sectionsToRestartFor] };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw failure(Reason.INVALID_ARGUMENT, `The configuration is refused and the old one stays: ${reason}`);
      }
    },
  };
}
