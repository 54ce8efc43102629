import { createClient } from "@connectrpc/connect";
import type { Command } from "commander";
import { StatusService } from "#gen/tollgate/status/v1/status_service_pb.js";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { showStatus, statusDocument } from "../output/documents.ts";

/** `tollgate status` */
export function addStatus(program: Command, io: Io): void {
  addQuestion<[], object>(program, "status", io, {
    description: "tell what is wrong at the moment, and since when; ends with 1 when something is",
    ask: async (core) => statusDocument(await createClient(StatusService, core).getStatus({})),
    show: (answer) => showStatus(answer as ReturnType<typeof statusDocument>),
    refuse: (answer) => ("ok" in answer && !answer.ok ? "something is wrong" : undefined),
  });
}
