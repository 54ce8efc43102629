import { type Timestamp, timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { validate as isUuid } from "uuid";
import { type ListRequestsRequest, type Request, RequestOutcome } from "#gen/tollgate/metering/v1/request_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { type PageStart, readPage } from "#lib/rpc/pages.ts";
import { isStorable } from "#lib/text/storable.ts";
import type { ArchivedReceipts } from "#src/money/books/receipts/archived-receipts.ts";
import { LongRead } from "#src/storage/reads/long-read.ts";
import type { Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { finishedAfter, finishedQuery, type Query, refusedAfter, refusedQuery } from "./request-queries.ts";
import { type ListedRequest, readArchived, readFinished, readRefused } from "./request-rows.ts";

type Asked = Omit<ListRequestsRequest, "$typeName" | "$unknown">;

/**
 * A page of requests, newest first: finished ones from their receipts, refused ones from their record. Each is read
 * where it was written anyway, so that no request is written twice. A standby may tell it, unless it is about one request,
 * which is looked for in the archives, too. Throws INVALID_ARGUMENT for a page token of another list.
 */
export async function listRequests(storage: Storage, asked: Asked, archives?: Pick<ArchivedReceipts, "find">) {
  const reading = new LongRead(storage, asked.requestId !== "");
  const { entries, nextPageToken } = await readPage(
    `requests of ${JSON.stringify(toFilters(asked))}`,
    asked,
    (start) => reading.attempt(() => readRequests(reading, asked, start)),
    ({ key }) => key,
    (key) => keyPattern.test(key) && isStorable(key),
  );
  const requests = entries.map(toMessage);
  const mayHaveLeft = requests.length === 0 && asked.requestId !== "" && asked.pageToken === "";
  const left = mayHaveLeft && archives !== undefined ? await findArchived(archives, asked) : [];
  return { requests: [...requests, ...left], nextPageToken, asOf: reading.asOf };
}

/** The runs of one request that have left the books, newest first. */
async function findArchived(archives: Pick<ArchivedReceipts, "find">, asked: Asked): Promise<Request[]> {
  if (asked.outcome === RequestOutcome.REFUSED || asked.reason !== "") {
    return [];
  }
  const isWanted = ({ accountId, keyId, model, settledAt }: Receipt) =>
    [accountId, ""].includes(asked.accountId) &&
    [keyId, ""].includes(asked.keyId) &&
    [model, ""].includes(asked.model) &&
    (asked.from === undefined || toMs(settledAt) >= toMs(asked.from)) &&
    (asked.to === undefined || toMs(settledAt) < toMs(asked.to));
  const found = (await archives.find(asked.requestId, asked.accountId || undefined)).filter(isWanted);
  return found.toReversed().map((receipt) => ({
    $typeName: "tollgate.metering.v1.Request",
    ...readArchived(receipt),
    at: timestampFromMs(toMs(receipt.settledAt)),
  }));
}

const toMs = (at: Timestamp | undefined) => (at === undefined ? 0 : timestampMs(at));

/** The time, whether it was refused (r) or finished (f), and what orders those of one time. */
const keyPattern = /^(\d{1,15}(?:\.\d{1,20})?) (?:(r) (\d{1,18})|(f) ([0-9a-f-]{36}) (.+))$/s;

function toFilters({ accountId, requestId, keyId, model, reason, outcome, from, to }: Asked) {
  return [accountId, requestId, keyId, model, reason, outcome, from && timestampMs(from), to && timestampMs(to)];
}

async function readRequests(storage: LongRead, asked: Asked, { after, limit }: PageStart): Promise<ListedRequest[]> {
  // PostgreSQL fails when a text that is no UUID is compared with one; such a text matches no account anyway.
  if (asked.accountId !== "" && !isUuid(asked.accountId)) {
    return [];
  }
  const [, at, isRefused, id, , runId, requestId] = keyPattern.exec(after ?? "") ?? [];
  const time = at === undefined || storage.dialect === "sqlite" ? Number(at) : new Date(Number(at));
  const refused = refusedQuery(asked);
  const finished = finishedQuery(asked);
  if (at !== undefined) {
    refusedAfter(refused, time, isRefused && Number(id));
    finishedAfter(finished, time, isRefused ? undefined : [String(runId), String(requestId)]);
  }
  const snapshot = await storage.snapshot();
  try {
    const rows = [
      ...(asked.outcome === RequestOutcome.FINISHED ? [] : await read(snapshot, refused, limit, readRefused)),
      ...(asked.outcome === RequestOutcome.REFUSED || asked.reason !== ""
        ? []
        : await read(snapshot, finished, limit, readFinished)),
    ];
    // The sort is stable: of those of one time, refused ones come first.
    return rows.sort((one, other) => other.at - one.at).slice(0, limit);
  } finally {
    await snapshot.close();
  }
}

async function read<T>(
  snapshot: Snapshot,
  { sql, conditions, order }: Query,
  limit: number,
  toEntry: (row: Record<string, unknown>) => T,
): Promise<T[]> {
  const found: T[] = [];
  const text = `${sql} ${conditions.where} order by ${order} limit ${limit}`;
  for await (const rows of snapshot.rows(text, conditions.parameters)) {
    found.push(...rows.map(toEntry));
  }
  return found;
}

function toMessage({ key: _key, at, ...request }: ListedRequest): Request {
  return { $typeName: "tollgate.metering.v1.Request", ...request, at: timestampFromMs(Math.floor(at)) };
}
