import { timestampDate } from "@bufbuild/protobuf/wkt";
import { validate as isUuid } from "uuid";
import type { ListReceiptsRequest } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { type PageStart, readPage } from "#lib/rpc/pages.ts";
import { isStorable } from "#lib/text/storable.ts";
import { Usage, UsageLine } from "#src/storage/entities/metering/usage.ts";
import type { Storage } from "#src/storage/orm.ts";
import { readEntity } from "#src/storage/read-entity.ts";
import type { Snapshot } from "#src/storage/snapshot.ts";
import { Conditions } from "./conditions.ts";
import { toReceipt } from "./receipts.ts";

type Asked = Omit<ListReceiptsRequest, "$typeName" | "$unknown">;

/**
 * A page of receipts, newest first. Reads a snapshot, for which SQLite has a thread, because a
 * filter with few matches may look at many rows. Throws INVALID_ARGUMENT for a page token of another list.
 */
export async function listReceipts(storage: Storage, asked: Asked) {
  const { entries, nextPageToken } = await readPage(
    `receipts of ${JSON.stringify(toFilters(asked))}`,
    asked,
    (start) => readRuns(storage, asked, start),
    ({ settledMs, usage }) => `${settledMs} ${usage.runId} ${usage.requestId}`,
    (key) => keyPattern.test(key) && isStorable(key),
  );
  return { receipts: entries.map(({ usage, lines }): Receipt => toReceipt(usage, lines)), nextPageToken };
}

/** The key of a page: settlement time, run and request. SQLite has fractions of milliseconds in old receipts. */
const keyPattern = /^(\d{1,15}(?:\.\d{1,20})?) ([0-9a-f-]{36}) (.+)$/s;

interface StoredRun {
  readonly settledMs: number;
  readonly usage: Usage;
  readonly lines: readonly UsageLine[];
}

function toFilters({ accountId, keyId, model, requestId, from, to }: Asked) {
  return [accountId, keyId, model, requestId, ...[from, to].map((at) => at && timestampDate(at).getTime())];
}

async function readRuns(storage: Storage, asked: Asked, { after, limit }: PageStart): Promise<StoredRun[]> {
  // PostgreSQL fails when a text that is no UUID is compared with one; such a text matches no account anyway.
  if (asked.accountId !== "" && !isUuid(asked.accountId)) {
    return [];
  }
  const conditions = toConditions(asked);
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

async function readLines(snapshot: Snapshot, runs: readonly Usage[]): Promise<UsageLine[]> {
  const lines: UsageLine[] = [];
  if (runs.length > 0) {
    const ids = new Conditions();
    ids.add(`request_id in (${runs.map(() => "?").join(", ")})`, ...runs.map(({ requestId }) => requestId));
    for await (const rows of snapshot.rows(`select * from usage_line ${ids.where} order by seq`, ids.parameters)) {
      lines.push(...rows.map((row) => readEntity(UsageLine, row)));
    }
  }
  return lines;
}

function toConditions({ accountId, keyId, model, requestId, from, to }: Asked): Conditions {
  const conditions = new Conditions();
  if (accountId !== "") {
    conditions.add("account_id = ?", accountId);
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
  // All receipts are newer than 1970. Without a bound SQLite would sort the whole table for one page.
  conditions.add("settled_at >= ?", from === undefined ? new Date(0) : timestampDate(from));
  if (to !== undefined) {
    conditions.add("settled_at < ?", timestampDate(to));
  }
  return conditions;
}
