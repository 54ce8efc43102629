import { firstRun } from "../model/charges/run.ts";
import type { JournalOwner } from "./journal.ts";
import type { JournalContent } from "./journal-record.ts";

/**
 * Whether nobody can tell which database ran the unfinished requests, because the first line, which names it, is
 * damaged. Journals from before runs had ids never named it.
 */
export function isNobodys({ owner, headDamaged, records }: JournalContent): boolean {
  const runs = records.map((record) =>
    "note" in record ? record.note : "promise" in record ? record.promise : undefined,
  );
  return owner === undefined && headDamaged && runs.some((run) => run !== undefined && run.runId !== firstRun);
}

/** The error for a journal whose unfinished requests belong to another database or another core. */
export function foreign(
  path: string,
  owner: JournalOwner,
  own: Pick<JournalOwner, "databaseId" | "coreId">,
  unfinished: number,
): Error {
  return new Error(
    `the journal ${path} belongs to core ${owner.coreId} on database ${owner.databaseId}, and this is core ${own.coreId} on database ${own.databaseId}: start it where its ${unfinished} unfinished requests were run, or move it away to never charge them`,
  );
}
