import { createClient } from "@connectrpc/connect";
import type { Command } from "commander";
import { type ReloadResponse, SettingsService } from "#gen/tollgate/settings/v1/settings_service_pb.js";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";

/** `tollgate reload` */
export function addReload(program: Command, io: Io): void {
  addQuestion<[], object>(program, "reload", io, {
    description: "have the core read its configuration file again, and tell what needs a restart",
    ask: async (core) => reloadDocument(await createClient(SettingsService, core).reload({})),
  });
}

export function reloadDocument({ models, sectionsToRestartFor }: ReloadResponse) {
  return { reloaded: true, models, needs_restart: sectionsToRestartFor };
}
