import { createClient } from "@connectrpc/connect";
import type { Command } from "commander";
import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import type { Io } from "../shared/io.ts";
import { addQuestion } from "./ask-core.ts";
import { reconcileDocument } from "./output/documents.ts";

/** `tollgate reconcile` */
export function addReconcile(program: Command, io: Io): void {
  addQuestion<[], object>(program, "reconcile", io, {
    description: "prove that all money is accounted for, per account and in total",
    ask: async (core) => reconcileDocument(await createClient(BooksService, core).reconcile({})),
    refuse: (answer) => ("ok" in answer && answer.ok ? undefined : "the books do not add up"),
  });
}
