import { timestampMs } from "@bufbuild/protobuf/wkt";
import { validate as isUuid } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type StreamUsageRequest, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { toInt64 } from "#lib/money/int64.ts";
import { dayName, hourMs } from "#lib/time/days.ts";
import { readSum } from "#src/storage/reads/exact-sum.ts";
import { LongRead } from "#src/storage/reads/long-read.ts";
import { pieceSize, type Row, type Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { readKeptFrom } from "../../store/kept-from.ts";
import { usageQuery } from "./usage-query.ts";

const usual = [UsageGroup.ACCOUNT, UsageGroup.KEY, UsageGroup.MODEL];

/** A part of the usage. */
export interface UsagePiece {
  readonly rows: UsageRow[];
  /** A standby told it: the moment of its state, in milliseconds since the epoch. Undefined: it is of this moment. */
  readonly asOf: number | undefined;
}

/**
 * Sums requests, tokens and cost, piece by piece. Reads the sums of hours and days, and receipts only for the parts of
 * hours at the span's ends.
 */
export async function* streamUsage(storage: Storage, request: StreamUsageRequest): AsyncGenerator<UsagePiece> {
  // PostgreSQL fails when a text that is no UUID is compared with one; such a text matches no account anyway.
  if (request.accountId !== "" && !isUuid(request.accountId)) {
    return;
  }
  refuseNameless(request);
  await refuseParts(storage, request);
  const reading = new LongRead(storage, request.fresh);
  for await (const rows of reading.pieces(() => readUsage(reading, request))) {
    yield { rows, asOf: reading.asOf };
  }
}

/** Returns at least one piece, perhaps without rows. */
async function* readUsage(storage: LongRead, request: StreamUsageRequest): AsyncGenerator<UsageRow[]> {
  const groups = new Set(request.groupBy.length > 0 ? request.groupBy : usual);
  const { labelName, labelValue } = request;
  const snapshot = await storage.snapshot();
  try {
    const accountId = request.accountId || (await findAccount(snapshot, request.keyId));
    const { sql, parameters } = usageQuery(storage.dialect, {
      accountId,
      keyId: request.keyId,
      model: request.model,
      groups,
      dearest: request.dearest,
      ...(labelName !== "" && { label: { name: labelName, value: labelValue } }),
      ...(request.from && { fromMs: timestampMs(request.from) }),
      ...(request.to && { toMs: timestampMs(request.to) }),
    });
    if (request.dearest > 0 && request.dearest <= pieceSize) {
      yield (await snapshot.few(sql, parameters)).map(toUsageRow);
      return;
    }
    let isEmpty = true;
    for await (const rows of snapshot.rows(sql, parameters)) {
      isEmpty = false;
      yield rows.map(toUsageRow);
    }
    if (isEmpty) {
      yield [];
    }
  } finally {
    await snapshot.close();
  }
}

/** Throws INVALID_ARGUMENT when a label is asked for without its name. */
function refuseNameless({ labelName, labelValue, groupBy }: StreamUsageRequest): void {
  if (labelName === "" && (labelValue !== undefined || groupBy.includes(UsageGroup.LABEL))) {
    const parameter = "label_name";
    throw failure(Reason.INVALID_ARGUMENT, "It must name the label to group or filter by.", { parameter });
  }
}

/**
 * Throws INVALID_ARGUMENT for a span that begins or ends within an hour whose receipts have left the books, because
 * only the sum of the whole hour is left.
 */
async function refuseParts(storage: Storage, { from, to }: Pick<StreamUsageRequest, "from" | "to">): Promise<void> {
  for (const [parameter, time] of Object.entries({ from, to })) {
    const ms = time && timestampMs(time);
    if (ms !== undefined && ms % hourMs !== 0 && ms < (await readKeptFrom(storage))) {
      throw failure(
        Reason.INVALID_ARGUMENT,
        `The usage of that time is kept by the hour: ${parameter} must be a whole one.`,
        { parameter },
      );
    }
  }
}

/** The account of a key, because sums are kept by account. Empty: unknown. */
async function findAccount(snapshot: Snapshot, keyId: string): Promise<string> {
  const [found] = isUuid(keyId) ? await snapshot.few("select account_id from api_key where id = ?", [keyId]) : [];
  return String(found?.account_id ?? "");
}

function toUsageRow(row: Row): UsageRow {
  const text = (name: string) => (row[name] === undefined ? "" : String(row[name]));
  const count = (name: string) => BigInt(String(row[name]));
  const cost = readSum(row, "cost");
  return {
    $typeName: "tollgate.metering.v1.UsageRow",
    accountId: text("account_id"),
    keyId: text("key_id"),
    model: text("model"),
    day: row.day === undefined ? "" : dayName(Number(row.day)),
    label: text("label"),
    hour: row.hour === undefined ? "" : isoTime(Number(row.hour)),
    requests: count("requests"),
    inputTokens: count("input_tokens"),
    outputTokens: count("output_tokens"),
    costPicoUsd: toInt64(cost),
    totalCostPicoUsd: String(cost),
  };
}

/** An hour since 1970 as YYYY-MM-DDTHH:00:00Z. */
function isoTime(hour: number): string {
  return new Date(hour * hourMs).toISOString().replace(".000Z", "Z");
}
