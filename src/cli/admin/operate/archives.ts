import { createClient } from "@connectrpc/connect";
import type { Command } from "commander";
import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { readAll } from "#lib/rpc/pages.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { archiveDocument } from "../output/metering-documents.ts";

/** `tollgate archives` */
export function addArchives(program: Command, io: Io): void {
  addQuestion<[], object>(program, "archives", io, {
    description: "list the archives of receipts that have left the books, newest day first",
    ask: async (core) => {
      const client = createClient(BooksService, core);
      const found = await readAll(
        (page) => client.listReceiptArchives(page),
        ({ archives }) => archives,
      );
      return found.map(archiveDocument);
    },
  });
}
