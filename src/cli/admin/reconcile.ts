import { createClient, type Transport } from "@connectrpc/connect";
import type { Command } from "commander";
import { BooksService, type ReconcileResponse } from "#gen/tollgate/metering/v1/books_service_pb.js";
import type { Io } from "../shared/io.ts";
import { whileTelling } from "../shared/progress.ts";
import { addQuestion } from "./ask-core.ts";
import { reconcileDocument } from "./output/documents.ts";

/** People see that it goes on, so it may take as long as it does with the largest books. */
const timeoutMs = 3_600_000;

/** `tollgate reconcile` */
export function addReconcile(program: Command, io: Io): void {
  addQuestion<[], object>(program, "reconcile", io, {
    description: "prove that all money is accounted for, per account and in total",
    tellsProgress: true,
    ask: async (core) => reconcileDocument(await prove(core, io)),
    refuse: (answer) => ("ok" in answer && answer.ok ? undefined : "the books do not add up"),
  });
}

/** Proves the books, and tells where the proof is. */
function prove(core: Transport, io: Io): Promise<ReconcileResponse> {
  return whileTelling("proving", "rules", io, async (report) => {
    for await (const step of createClient(BooksService, core).streamReconcile({}, { timeoutMs })) {
      if (step.proof !== undefined) {
        return step.proof;
      }
      report(step.done, step.total, step.rule);
    }
    throw new Error("the proof broke off before its end");
  });
}
