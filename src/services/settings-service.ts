import type { ServiceImpl } from "@connectrpc/connect";
import type { SettingsService } from "#gen/tollgate/settings/v1/settings_service_pb.js";
import type { Setting } from "#src/config/effective.ts";

/** Shows the configuration that the core started with, secrets hidden. */
export function createSettingsService(settings: readonly Setting[]): ServiceImpl<typeof SettingsService> {
  return {
    getSettings: () => ({
      settings: settings.map(({ setting, value, source }) => ({ name: setting, value: String(value), origin: source })),
    }),
  };
}
