import { createClient, type Transport } from "@connectrpc/connect";
import type { Command } from "commander";
import { EventsService } from "#gen/tollgate/events/v1/events_service_pb.js";
import { readAll } from "#lib/rpc/pages.ts";
import { count, words } from "../../shared/arguments.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { eventDocument } from "../output/event-documents.ts";

/** `tollgate events …` */
export function addEvents(program: Command, io: Io): void {
  const group = program.command("events").description("what has happened, as webhooks tell it");
  const client = (core: Transport) => createClient(EventsService, core);

  addQuestion<[], { limit: number; type: string[] }>(group, "list", io, {
    description: "list past events, newest first",
    options: (command) =>
      command
        .option("--limit <n>", "the most events", count, 100)
        .option("--type <types>", "only events of these types, with commas between; all unless set", words, []),
    ask: async (core, { limit, type: types }) =>
      (
        await readAll(
          (page) => client(core).listEvents({ types, ...page }),
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
