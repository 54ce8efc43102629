import { validate as isUuid } from "uuid";
import { type ListRequestsRequest, RequestOutcome } from "#gen/tollgate/metering/v1/request_pb.js";
import { CutPage, type PageStart } from "#lib/rpc/pages.ts";
import { findFloor } from "#src/money/books/receipts/look-back.ts";
import type { LongRead } from "#src/storage/reads/long-read.ts";
import type { Row, Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { type After, finishedQuery, type Query, refusedQuery } from "./request-queries.ts";
import { type ListedRequest, readFinished, readRefused } from "./request-rows.ts";

/**
 * The time, and whether a page begins after a refusal (r) or a receipt (f) of it, with what orders those of one time, or after all
 * of it (e).
 */
const keyPattern = /^(\d{1,15}(?:\.\d{1,20})?) (?:(r) (\d{1,18})|(f) ([0-9a-f-]{36}) (.+)|(e))$/s;

/** What is asked of the list. */
export type Asked = Omit<ListRequestsRequest, "$typeName" | "$unknown">;

/** Whether a page of this list may begin after a key. */
export const isKey = (key: string): boolean => keyPattern.test(key);

/** A moment as the database stores it. */
const toTime = (ms: number, dialect: Storage["dialect"]) => (dialect === "sqlite" ? ms : new Date(ms));

function readAfter(key: string | undefined, dialect: Storage["dialect"]): After | undefined {
  const [, at, r, id, f, runId, requestId] = keyPattern.exec(key ?? "") ?? [];
  if (at === undefined) {
    return undefined;
  }
  const time = toTime(Number(at), dialect);
  if (r !== undefined) {
    return { time, place: { refusal: Number(id) } };
  }
  return { time, place: f === undefined ? "end" : { run: [String(runId), String(requestId)] } };
}

/** Looks no further back than an answer's share where a filter is tried row by row: the page that it ends goes on from there. */
export async function readRequests(
  storage: LongRead,
  asked: Asked,
  { after, limit }: PageStart,
  share: number,
): Promise<ListedRequest[] | CutPage<ListedRequest>> {
  // PostgreSQL fails when a text that is no UUID is compared with one; such a text matches no account anyway.
  if (asked.accountId !== "" && !isUuid(asked.accountId)) {
    return [];
  }
  const { dialect } = storage;
  const start = readAfter(after, dialect);
  const hasFinished = asked.outcome !== RequestOutcome.REFUSED && asked.reason === "";
  const refused = asked.outcome === RequestOutcome.FINISHED ? undefined : refusedQuery(asked, dialect, start);
  const finished = hasFinished ? finishedQuery(asked, dialect, start) : undefined;
  const queries = [refused, finished].filter((query) => query !== undefined);
  const snapshot = await storage.snapshot();
  try {
    const floor = await findFloorOf(snapshot, queries, share);
    for (const { conditions, time } of floor === undefined ? [] : queries) {
      conditions.add(`${time} >= ?`, toTime(floor as number, dialect));
    }
    const rows = [
      ...(refused ? await read(snapshot, refused, limit, readRefused) : []),
      ...(finished ? await read(snapshot, finished, limit, readFinished) : []),
    ];
    // The sort is stable: of those of one time, refused ones come first.
    const page = rows.sort((one, other) => other.at - one.at).slice(0, limit);
    return floor === undefined || page.length === limit ? page : new CutPage(page, `${floor} e`);
  } finally {
    await snapshot.close();
  }
}

/** How far back the lists of an answer are read together. Undefined: to their ends. */
async function findFloorOf(snapshot: Snapshot, queries: readonly Query[], share: number): Promise<number | undefined> {
  let nearest: number | undefined;
  for (const { known, ...query } of queries) {
    const floor = known && (await findFloor(snapshot, { ...query, known }, share));
    nearest = floor === undefined ? nearest : Math.max(floor, nearest ?? floor);
  }
  return nearest;
}

async function read(
  snapshot: Snapshot,
  { table, conditions, order }: Query,
  limit: number,
  toEntry: (row: Row) => ListedRequest,
): Promise<ListedRequest[]> {
  const found: ListedRequest[] = [];
  const text = `select * from ${table} ${conditions.where} order by ${order} limit ${limit}`;
  for await (const rows of snapshot.rows(text, conditions.parameters)) {
    found.push(...rows.map(toEntry));
  }
  return found;
}
