import { existsSync } from "node:fs";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { copyStorage } from "#src/storage/orm/copy.ts";
import type { Storage } from "#src/storage/storage.ts";
import { reconcileDocument } from "../admin/output/metering-documents.ts";
import type { Document } from "../admin/output/render.ts";
import type { Io } from "../shared/io.ts";
import { whileTelling } from "../shared/progress.ts";
import { withStorage } from "../shared/with-storage.ts";

/** Copies a SQLite storage to PostgreSQL. Throws when the books of either do not add up, or differ. */
export async function migrateStorage(from: string, to: string, io: Pick<Io, "progress">): Promise<Document> {
  const file = from.startsWith("sqlite:") ? from.slice("sqlite:".length) : undefined;
  if (file === undefined || !to.startsWith("postgres")) {
    throw new Error("--from must start with sqlite: and --to with postgresql://");
  }
  if (!existsSync(file)) {
    throw new Error(`there is no file ${file}`);
  }
  return withStorage(from, async (source) => {
    const before = await proved(source, "source", io);
    return withStorage(to, async (target) => {
      const tables = await whileTelling("copying", "rows", io, (report) => copyStorage(source, target, report));
      const after = await proved(target, "target", io);
      if (JSON.stringify(before) !== JSON.stringify(after)) {
        throw new Error("the target's books differ from the source's: drop the target and stay with the source");
      }
      return { ...after, tables: Object.entries(tables).map(([table, rows]) => ({ table, rows })) };
    });
  });
}

async function proved(storage: Storage, name: string, io: Pick<Io, "progress">) {
  const proof = await whileTelling(`proving the ${name}`, "rules", io, (report) =>
    reconcile(storage, undefined, { onStep: ({ done, total, rule }) => report(done, total, rule) }),
  );
  const books = reconcileDocument(proof);
  if (!books.ok) {
    throw new Error(`the ${name}'s books do not add up: ${JSON.stringify(books.findings[0])}`);
  }
  return books;
}
