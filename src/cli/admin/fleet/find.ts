import { createClient } from "@connectrpc/connect";
import type { Command } from "commander";
import { FindService, type Found } from "#gen/tollgate/find/v1/find_service_pb.js";
import { count } from "../../shared/arguments.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";

/** `tollgate find` */
export function addFind(program: Command, io: Io): void {
  addQuestion<[string], { limit: number }>(program, "find <text>", io, {
    description:
      "find a request, an account, a key, a payment, a model or a server by its id, its name or a key's last four characters",
    options: (command) => command.option("--limit <n>", "the most of each kind, up to 100", count, 10),
    ask: async (core, { limit }, text) =>
      (await createClient(FindService, core).findAnything({ text, pageSize: limit })).found.map(foundDocument),
  });
}

export function foundDocument({ kind, id, name, accountId, mark }: Found) {
  return { kind, id, name: name || mark || null, account_id: accountId === "" ? null : accountId };
}
