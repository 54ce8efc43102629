import { createClient, type Transport } from "@connectrpc/connect";
import type { Command } from "commander";
import { EventsService } from "#gen/tollgate/events/v1/events_service_pb.js";
import { readAll } from "../../../lib/rpc/pages.ts";
import { count } from "../shared/arguments.ts";
import type { Io } from "../shared/io.ts";
import { addQuestion } from "./ask-core.ts";
import { eventDocument } from "./output/event-documents.ts";

/** `tollgate events …` */
export function addEvents(program: Command, io: Io): void {
  const group = program.command("events").description("what has happened, as webhooks tell it");
  const client = (core: Transport) => createClient(EventsService, core);

  addQuestion<[], { limit: number }>(group, "list", io, {
    description: "list past events, newest first",
    options: (command) => command.option("--limit <n>", "the most events", count, 100),
    ask: async (core, { limit }) =>
      (
        await readAll(
          (page) => client(core).listEvents(page),
          ({ events }) => events,
          limit,
        )
      ).map(eventDocument),
  });
  addQuestion<[], object>(group, "types", io, {
    description: "list the types of events",
    ask: async (core) =>
      (await client(core).listEventTypes({})).eventTypes.map(({ type, description }) => ({ type, description })),
  });
}
