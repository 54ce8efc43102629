import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { readEntity } from "#src/storage/reads/read-entity.ts";
import type { Storage } from "#src/storage/storage.ts";
import { readKeptFrom } from "../../store/kept-from.ts";
import type { TimeSpan } from "../proof/scope.ts";
import type { ArchivedReceipts } from "../receipts/archived-receipts.ts";
import { Conditions } from "../receipts/conditions.ts";
import { toReceipt } from "../receipts/receipts.ts";
import { readLines } from "../receipts/stored-runs.ts";

/** Receipts read at once: few, since what is read lives until its lines are written, and V8 keeps what lives for long. */
const pageSize = 100;

/** The receipts of an account's day, in the order in which they are sealed. */
export async function* readCharges(
  storage: Storage,
  archives: Pick<ArchivedReceipts, "listOldestFirst">,
  accountId: string,
  day: TimeSpan,
): AsyncGenerator<Receipt> {
  if (day.from < (await readKeptFrom(storage))) {
    yield* archives.listOldestFirst({ accountId, fromMs: day.from, toMs: day.to });
  } else {
    yield* readStored(storage, accountId, day);
  }
}

async function* readStored(storage: Storage, accountId: string, { from, to }: TimeSpan): AsyncGenerator<Receipt> {
  let after: unknown[] | undefined;
  do {
    const conditions = new Conditions();
    conditions.add("account_id = ?", accountId);
    conditions.add("settled_at >= ?", new Date(from));
    conditions.add("settled_at < ?", new Date(to));
    if (after !== undefined) {
      conditions.add("(settled_at, run_id, request_id) > (?, ?, ?)", ...after);
    }
    const page = await readPage(storage, conditions);
    yield* page.receipts;
    after = page.last;
  } while (after !== undefined);
}

async function readPage(storage: Storage, { where, parameters }: Conditions) {
  const snapshot = await storage.snapshot();
  try {
    const sql = `select * from usage ${where} order by settled_at, run_id, request_id limit ${pageSize}`;
    const rows = await snapshot.few(sql, parameters);
    const last = rows.slice(-1).flatMap((row) => [row.settled_at, row.run_id, row.request_id]);
    const runs = rows.map((row) => readEntity(Usage, row));
    const lines = Map.groupBy(await readLines(snapshot, runs), ({ runId }) => runId);
    const receipts = runs.map((run) =>
      toReceipt(
        run,
        (lines.get(run.runId) ?? []).filter(({ requestId }) => requestId === run.requestId),
      ),
    );
    return { receipts, last: runs.length < pageSize ? undefined : last };
  } finally {
    await snapshot.close();
  }
}
