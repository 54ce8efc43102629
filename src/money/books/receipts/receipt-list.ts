import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import type { ListReceiptsRequest } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import { CutPage, type PageStart, readPage } from "#lib/rpc/pages.ts";
import { isStorable } from "#lib/text/storable.ts";
import { LongRead } from "#src/storage/reads/long-read.ts";
import type { Storage } from "#src/storage/storage.ts";
import { readKeptFrom } from "../../store/kept-from.ts";
import { type ArchivedReceipts, placeOf } from "./archived-receipts.ts";
import { mostLooked } from "./look-back.ts";
import { toReceipt } from "./receipts.ts";
import { leastRun, type RunPlace, readRuns } from "./stored-runs.ts";

type Asked = Omit<ListReceiptsRequest, "$typeName" | "$unknown">;

/**
 * A page of receipts, newest first: those in the books, then those in archives, if there are any to read. Reads a
 * snapshot, for which SQLite has a thread, because a filter with few matches may look at many rows. A standby may tell
 * it, unless it is about one request. Throws INVALID_ARGUMENT for a page token of another list.
 */
export async function listReceipts(
  storage: Storage,
  asked: Asked,
  archives?: Pick<ArchivedReceipts, "list">,
  share = mostLooked,
) {
  const reading = new LongRead(storage, asked.requestId !== "");
  const read: ReadBooks = (start, keptFrom) => readBooks(reading, asked, { ...start, share }, keptFrom);
  const { entries, nextPageToken } = await readPage(
    `receipts of ${JSON.stringify(toFilters(asked))}`,
    asked,
    (start) => (archives === undefined ? read(start, 0) : readBoth(storage, read, asked, start, archives)),
    ({ settledMs, receipt }) => `${settledMs} ${receipt.runId} ${receipt.requestId}`,
    (key) => keyPattern.test(key) && isStorable(key),
  );
  return { receipts: entries.map(({ receipt }) => receipt), nextPageToken, asOf: reading.asOf };
}

interface Listed {
  readonly settledMs: number;
  readonly receipt: Receipt;
}

type ReadBooks = (start: PageStart, keptFrom: number) => Promise<Listed[] | CutPage<Listed>>;

/** What is kept in the books, and then what has left them. Receipts that leave meanwhile make it read again. */
async function readBoth(
  storage: Storage,
  read: ReadBooks,
  asked: Asked,
  start: PageStart,
  archives: Pick<ArchivedReceipts, "list">,
): Promise<readonly Listed[] | CutPage<Listed>> {
  const keptFrom = await readKeptFrom(storage);
  const entries = await read(start, keptFrom);
  if (keptFrom !== (await readKeptFrom(storage))) {
    return readBoth(storage, read, asked, start, archives);
  }
  if (entries instanceof CutPage) {
    return entries;
  }
  const question = {
    accountId: asked.accountId,
    keyId: asked.keyId,
    model: asked.model,
    requestId: asked.requestId,
    ...(asked.labelName !== "" && { label: { name: asked.labelName, value: asked.labelValue } }),
    fromMs: asked.from === undefined ? 0 : timestampDate(asked.from).getTime(),
    toMs: Math.min(keptFrom, asked.to === undefined ? keptFrom : timestampDate(asked.to).getTime()),
    after: readKey(start.after),
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

/** Looks no further back than an answer's share where a filter is tried row by row: the page that it ends goes on from there. */
async function readBooks(
  reading: LongRead,
  asked: Asked,
  { after, limit, share }: PageStart & { readonly share: number },
  keptFrom: number,
): Promise<Listed[] | CutPage<Listed>> {
  const part = { after: readKey(after), limit, share, keptFrom };
  const { runs, floor } = await reading.attempt(() => readRuns(reading, asked, part));
  const listed = runs.map(({ settledMs, usage, lines }) => ({ settledMs, receipt: toReceipt(usage, lines) }));
  return floor === undefined || listed.length === limit ? listed : new CutPage(listed, endOf(floor));
}

/** The key of a page that begins after everything of a time: no receipt has the least run. */
const endOf = (ms: number) => `${ms} ${leastRun} -`;

/** The key of a page: settlement time, run and request. SQLite has fractions of milliseconds in old receipts. */
const keyPattern = /^(\d{1,15}(?:\.\d{1,20})?) ([0-9a-f-]{36}) (.+)$/s;

function readKey(key: string | undefined): RunPlace | undefined {
  const [, at, runId = "", requestId = ""] = keyPattern.exec(key ?? "") ?? [];
  return at === undefined ? undefined : { settledMs: Number(at), runId, requestId };
}

function toFilters({ accountId, keyId, model, requestId, labelName, labelValue, from, to }: Asked) {
  const times = [from, to].map((at) => at && timestampDate(at).getTime());
  return [accountId, keyId, model, requestId, ...times, ...(labelName === "" ? [] : [labelName, labelValue])];
}
