import { createClient, type Transport } from "@connectrpc/connect";
import { type Command, Option } from "commander";
import { BooksService, BooksSum, type ReconcileResponse } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { readAll } from "#lib/rpc/pages.ts";
import type { Io } from "../../shared/io.ts";
import { whileTelling } from "../../shared/progress.ts";
import { addQuestion } from "../ask-core.ts";
import { addendDocument, reconcileDocument } from "../output/metering-documents.ts";

/** A proof may take this long with the largest books, because people see the progress. In milliseconds. */
const timeoutMs = 3_600_000;

/** The sums whose addends can be listed. */
const sums: Record<string, BooksSum> = {
  granted: BooksSum.GRANTED,
  refunded: BooksSum.REFUNDED,
  expired: BooksSum.EXPIRED,
  debt: BooksSum.DEBT,
};

/** `tollgate reconcile` */
export function addReconcile(program: Command, io: Io): void {
  addQuestion<[], { addends?: string; all?: true }>(program, "reconcile", io, {
    description: "prove that all money is accounted for, per account and in total",
    options: (command) =>
      command
        .option("--all", "read the receipts of sealed days again, too")
        .addOption(
          new Option("--addends <sum>", "list the accounts that a sum adds up instead").choices(Object.keys(sums)),
        ),
    tellsProgress: true,
    ask: async (core, { addends, all = false }) =>
      addends === undefined ? reconcileDocument(await prove(core, io, all)) : await list(core, sums[addends]),
    refuse: (answer) => ("ok" in answer && !answer.ok ? "the books do not add up" : undefined),
  });
}

/** The accounts that a sum adds up. */
async function list(core: Transport, sum: BooksSum = BooksSum.UNSPECIFIED) {
  const books = createClient(BooksService, core);
  const all = await readAll(
    (page) => books.listAddends({ sum, ...page }),
    ({ addends }) => addends,
  );
  return all.map(addendDocument);
}

/** Proves the books and reports the progress. */
function prove(core: Transport, io: Io, all: boolean): Promise<ReconcileResponse> {
  return whileTelling("proving", "rules", io, async (report) => {
    for await (const step of createClient(BooksService, core).streamReconcile({ all }, { timeoutMs })) {
      if (step.proof !== undefined) {
        return step.proof;
      }
      report(step.done, step.total, step.rule);
    }
    throw new Error("the proof broke off before its end");
  });
}
