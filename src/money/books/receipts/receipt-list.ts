import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { validate as isUuid } from "uuid";
import type { ListReceiptsRequest } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import { CutPage, type PageStart, readPage } from "#lib/rpc/pages.ts";
import { isStorable } from "#lib/text/storable.ts";
import { Usage, UsageLine } from "#src/storage/entities/metering/usage.ts";
import { LongRead } from "#src/storage/reads/long-read.ts";
import { readEntity } from "#src/storage/reads/read-entity.ts";
import { pieceSize, type Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { readKeptFrom } from "../../store/kept-from.ts";
import { labelOf } from "../../store/rollups.ts";
import { type ArchivedReceipts, placeOf } from "./archived-receipts.ts";
import { Conditions } from "./conditions.ts";
import { toReceipt } from "./receipts.ts";

type Asked = Omit<ListReceiptsRequest, "$typeName" | "$unknown">;

/**
 * A page of receipts, newest first: those in the books, then those in archives, if there are any to read. Reads a
 * snapshot, for which SQLite has a thread, because a filter with few matches may look at many rows. A standby may tell
 * it, unless it is about one request. Throws INVALID_ARGUMENT for a page token of another list.
 */
export async function listReceipts(storage: Storage, asked: Asked, archives?: Pick<ArchivedReceipts, "list">) {
  const reading = new LongRead(storage, asked.requestId !== "");
  const { entries, nextPageToken } = await readPage(
    `receipts of ${JSON.stringify(toFilters(asked))}`,
    asked,
    (start) =>
      archives === undefined ? readBooks(reading, asked, start, 0) : readBoth(storage, reading, asked, start, archives),
    ({ settledMs, receipt }) => `${settledMs} ${receipt.runId} ${receipt.requestId}`,
    (key) => keyPattern.test(key) && isStorable(key),
  );
  return { receipts: entries.map(({ receipt }) => receipt), nextPageToken, asOf: reading.asOf };
}

interface Listed {
  readonly settledMs: number;
  readonly receipt: Receipt;
}

/** What is kept in the books, and then what has left them. Receipts that leave meanwhile make it read again. */
async function readBoth(
  storage: Storage,
  reading: LongRead,
  asked: Asked,
  start: PageStart,
  archives: Pick<ArchivedReceipts, "list">,
): Promise<readonly Listed[] | CutPage<Listed>> {
  const keptFrom = await readKeptFrom(storage);
  const entries = await readBooks(reading, asked, start, keptFrom);
  if (keptFrom !== (await readKeptFrom(storage))) {
    return readBoth(storage, reading, asked, start, archives);
  }
  const [, at, runId = "", requestId = ""] = keyPattern.exec(start.after ?? "") ?? [];
  const question = {
    accountId: asked.accountId,
    keyId: asked.keyId,
    model: asked.model,
    requestId: asked.requestId,
    ...(asked.labelName !== "" && { label: { name: asked.labelName, value: asked.labelValue } }),
    fromMs: asked.from === undefined ? 0 : timestampDate(asked.from).getTime(),
    toMs: Math.min(keptFrom, asked.to === undefined ? keptFrom : timestampDate(asked.to).getTime()),
    after: at === undefined ? undefined : { settledMs: Number(at), runId, requestId },
  };
  if (entries.length === start.limit || question.fromMs >= question.toMs) {
    return entries;
  }
  try {
    for await (const receipt of archives.list(question)) {
      entries.push({ settledMs: placeOf(receipt).settledMs, receipt });
      if (entries.length === start.limit) {
        break;
      }
    }
    return entries;
  } catch (error) {
    return endBefore(entries, error);
  }
}

/**
 * A page ends before an archive that cannot be read, and the next one fails with its day: whoever reads a list to its end must
 * not take it for whole, since bills are made of it.
 */
function endBefore(entries: readonly Listed[], error: unknown): CutPage<Listed> {
  const reason = readDetail(error)?.reason;
  if (reason === undefined) {
    throw error;
  }
  if (entries.length === 0) {
    const advice = "The days before and after it can be read: bound the list by `from` and `to`.";
    throw failure(reason, `${ConnectError.from(error).rawMessage} ${advice}`, {}, error);
  }
  return new CutPage(entries);
}

async function readBooks(reading: LongRead, asked: Asked, start: PageStart, keptFrom: number): Promise<Listed[]> {
  const runs = await reading.attempt(() => readRuns(reading, asked, start, keptFrom));
  return runs.map(({ settledMs, usage, lines }) => ({ settledMs, receipt: toReceipt(usage, lines) }));
}

/** The key of a page: settlement time, run and request. SQLite has fractions of milliseconds in old receipts. */
const keyPattern = /^(\d{1,15}(?:\.\d{1,20})?) ([0-9a-f-]{36}) (.+)$/s;

interface StoredRun {
  readonly settledMs: number;
  readonly usage: Usage;
  readonly lines: readonly UsageLine[];
}

function toFilters({ accountId, keyId, model, requestId, labelName, labelValue, from, to }: Asked) {
  const times = [from, to].map((at) => at && timestampDate(at).getTime());
  return [accountId, keyId, model, requestId, ...times, ...(labelName === "" ? [] : [labelName, labelValue])];
}

async function readRuns(
  storage: LongRead,
  asked: Asked,
  { after, limit }: PageStart,
  keptFrom: number,
): Promise<StoredRun[]> {
  // PostgreSQL fails when a text that is no UUID is compared with one; such a text matches no account anyway.
  if (asked.accountId !== "" && !isUuid(asked.accountId)) {
    return [];
  }
  const conditions = toConditions(asked, keptFrom, storage.dialect);
  const [, at, runId, requestId] = keyPattern.exec(after ?? "") ?? [];
  if (at !== undefined) {
    const time = storage.dialect === "sqlite" ? Number(at) : new Date(Number(at));
    conditions.add("(settled_at, run_id, request_id) < (?, ?, ?)", time, runId, requestId);
  }
  const snapshot = await storage.snapshot();
  try {
    const runs: Usage[] = [];
    const times: number[] = [];
    const sql = `select * from usage ${conditions.where} order by settled_at desc, run_id desc, request_id desc limit ${limit}`;
    for await (const rows of snapshot.rows(sql, conditions.parameters)) {
      runs.push(...rows.map((row) => readEntity(Usage, row)));
      times.push(...rows.map((row) => (typeof row.settled_at === "number" ? row.settled_at : Number.NaN)));
    }
    const lines = Map.groupBy(await readLines(snapshot, runs), ({ runId }) => runId);
    return runs.map((usage, at) => ({
      settledMs: times[at] || usage.settledAt.getTime(),
      usage,
      lines: (lines.get(usage.runId) ?? []).filter(({ requestId }) => requestId === usage.requestId),
    }));
  } finally {
    await snapshot.close();
  }
}

/** The lines of receipts, in the order of spending. */
export async function readLines(snapshot: Pick<Snapshot, "few">, runs: readonly Usage[]): Promise<UsageLine[]> {
  const lines: UsageLine[] = [];
  for (let at = 0; at < runs.length; at += pieceSize) {
    const some = runs.slice(at, at + pieceSize);
    const ids = new Conditions();
    ids.add(`request_id in (${some.map(() => "?").join(", ")})`, ...some.map(({ requestId }) => requestId));
    // Receipts of a page are of few days: PostgreSQL need not look for each of them in the lines of all days.
    const runIds = some.map(({ runId }) => runId).toSorted();
    ids.add("run_id >= ?", runIds[0]);
    ids.add("run_id <= ?", runIds.at(-1));
    const rows = await snapshot.few(`select * from usage_line ${ids.where} order by seq`, ids.parameters);
    lines.push(...rows.map((row) => readEntity(UsageLine, row)));
  }
  return lines;
}

function toConditions(
  { accountId, keyId, model, requestId, labelName, labelValue, from, to }: Asked,
  keptFrom: number,
  dialect: Storage["dialect"],
): Conditions {
  const conditions = new Conditions();
  // A sign keeps SQLite, which has no statistics, from other indexes than that of the request: an account may have millions.
  const other = requestId !== "" && dialect === "sqlite" ? "+" : "";
  if (accountId !== "") {
    conditions.add(`${other}account_id = ?`, accountId);
  }
  if (keyId !== "") {
    conditions.add("key_id = ?", keyId);
  }
  if (model !== "") {
    conditions.add("model = ?", model);
  }
  if (requestId !== "") {
    conditions.add("request_id = ?", requestId);
  }
  if (labelName !== "" && labelValue !== undefined) {
    conditions.add(`coalesce(${labelOf[dialect]}, '') = ?`, labelName, labelValue);
  }
  // All receipts are newer than 1970. Without a bound SQLite would sort the whole table for one page.
  const since = from === undefined ? 0 : timestampDate(from).getTime();
  conditions.add(`${other}settled_at >= ?`, new Date(Math.max(since, keptFrom)));
  if (to !== undefined) {
    conditions.add(`${other}settled_at < ?`, timestampDate(to));
  }
  return conditions;
}
