import { timestampDate } from "@bufbuild/protobuf/wkt";
import { validate as isUuid } from "uuid";
import type { ListReceiptsRequest } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { Usage, UsageLine } from "#src/storage/entities/metering/usage.ts";
import type { LongRead } from "#src/storage/reads/long-read.ts";
import { readEntity } from "#src/storage/reads/read-entity.ts";
import { pieceSize, type Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { labelOf } from "../../store/rollups.ts";
import { Conditions } from "./conditions.ts";
import { findFloor } from "./look-back.ts";

/** The filters of a list of receipts. */
type Asked = Pick<
  ListReceiptsRequest,
  "accountId" | "keyId" | "model" | "requestId" | "labelName" | "labelValue" | "from" | "to"
>;

/** The place of a receipt in their order. */
export interface RunPlace {
  readonly settledMs: number;
  readonly runId: string;
  readonly requestId: string;
}

/** The run of a place that is behind all receipts of its time. */
export const leastRun = "00000000-0000-0000-0000-000000000000";

/** What of the books is read at once. */
interface Part {
  /** Only what comes after this place. */
  readonly after: RunPlace | undefined;
  readonly limit: number;
  /** The most rows that are looked at where a filter is no index's. */
  readonly share: number;
  /** Only what was settled at this moment or later, in milliseconds since the epoch. */
  readonly keptFrom: number;
}

/** A receipt as it is stored. */
export interface StoredRun {
  readonly settledMs: number;
  readonly usage: Usage;
  readonly lines: readonly UsageLine[];
}

/** The receipts of a part of the books, newest first, with their lines. */
export async function readRuns(
  storage: LongRead,
  asked: Asked,
  { after, limit, share, keptFrom }: Part,
): Promise<{ readonly runs: readonly StoredRun[]; readonly floor: number | undefined }> {
  // PostgreSQL fails when a text that is no UUID is compared with one; such a text matches no account anyway.
  if (asked.accountId !== "" && !isUuid(asked.accountId)) {
    return { runs: [], floor: undefined };
  }
  const { dialect } = storage;
  const toTime = (ms: number) => (dialect === "sqlite" ? ms : new Date(ms));
  const conditions = toConditions(asked, keptFrom, dialect);
  const known = isTried(asked) ? toConditions(toKnown(asked), keptFrom, dialect) : undefined;
  if (after !== undefined) {
    const time = toTime(after.settledMs);
    conditions.add("(settled_at, run_id, request_id) < (?, ?, ?)", time, after.runId, after.requestId);
    known?.add(`settled_at ${after.runId === leastRun ? "<" : "<="} ?`, time);
  }
  const snapshot = await storage.snapshot();
  try {
    const floor = known && (await findFloor(snapshot, { table: "usage", time: "settled_at", known }, share));
    if (floor !== undefined) {
      conditions.add("settled_at >= ?", toTime(floor));
    }
    const runs: Usage[] = [];
    const times: number[] = [];
    const sql = `select * from usage ${conditions.where} order by settled_at desc, run_id desc, request_id desc limit ${limit}`;
    for await (const rows of snapshot.rows(sql, conditions.parameters)) {
      runs.push(...rows.map((row) => readEntity(Usage, row)));
      times.push(...rows.map((row) => (typeof row.settled_at === "number" ? row.settled_at : Number.NaN)));
    }
    const lines = Map.groupBy(await readLines(snapshot, runs), ({ runId }) => runId);
    const stored = runs.map((usage, at) => ({
      settledMs: times[at] || usage.settledAt.getTime(),
      usage,
      lines: (lines.get(usage.runId) ?? []).filter(({ requestId }) => requestId === usage.requestId),
    }));
    return { runs: stored, floor };
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

/** Whether rows are tried one by one: no index knows the key, the model or the labels. */
function isTried({ keyId, model, requestId, labelName, labelValue }: Asked): boolean {
  return requestId === "" && (keyId !== "" || model !== "" || (labelName !== "" && labelValue !== undefined));
}

/** What an index knows of it. */
const toKnown = (asked: Asked): Asked => ({ ...asked, keyId: "", model: "", labelName: "" });

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
