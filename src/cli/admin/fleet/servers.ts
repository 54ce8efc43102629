import { createClient, type Transport } from "@connectrpc/connect";
import type { Command } from "commander";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { readAll } from "#lib/rpc/pages.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { serverDocument } from "../output/documents.ts";
import { required } from "../required.ts";

/** `tollgate servers …` */
export function addServers(program: Command, io: Io): void {
  const group = program.command("servers").description("inference servers");
  const client = (core: Transport) => createClient(CatalogueService, core);

  addQuestion<[], object>(group, "list", io, {
    description: "list the inference servers and how they are",
    ask: async (core) =>
      (
        await readAll(
          (page) => client(core).listServers(page),
          ({ servers }) => servers,
        )
      ).map(serverDocument),
  });
  addQuestion<[string], object>(group, "drain <server>", io, {
    description: "give a server no new work; running requests finish",
    ask: async (core, _, serverId) => serverDocument(required((await client(core).drainServer({ serverId })).server)),
  });
  addQuestion<[string], object>(group, "resume <server>", io, {
    description: "give a drained server work again",
    ask: async (core, _, serverId) => serverDocument(required((await client(core).resumeServer({ serverId })).server)),
  });
}
