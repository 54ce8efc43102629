import { type Timestamp, timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { type Request, RequestOutcome } from "#gen/tollgate/metering/v1/request_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { readPage } from "#lib/rpc/pages.ts";
import { isStorable } from "#lib/text/storable.ts";
import type { ArchivedReceipts } from "#src/money/books/receipts/archived-receipts.ts";
import { mostLooked } from "#src/money/books/receipts/look-back.ts";
import { LongRead } from "#src/storage/reads/long-read.ts";
import type { Storage } from "#src/storage/storage.ts";
import { type Asked, isKey, readRequests } from "./read-requests.ts";
import { type ListedRequest, readArchived } from "./request-rows.ts";

/**
 * A page of requests, newest first: finished ones from their receipts, refused ones from their record. Each is read
 * where it was written anyway, so that no request is written twice. A standby may tell it, unless it is about one request,
 * which is looked for in the archives, too. Throws INVALID_ARGUMENT for a page token of another list.
 */
export async function listRequests(
  storage: Storage,
  asked: Asked,
  archives?: Pick<ArchivedReceipts, "find">,
  share = mostLooked,
) {
  const reading = new LongRead(storage, asked.requestId !== "");
  const { entries, nextPageToken } = await readPage(
    `requests of ${JSON.stringify(toFilters(asked))}`,
    asked,
    (start) => reading.attempt(() => readRequests(reading, asked, start, share)),
    ({ key }) => key,
    (key) => isKey(key) && isStorable(key),
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

function toFilters({ accountId, requestId, keyId, model, reason, outcome, from, to }: Asked) {
  return [accountId, requestId, keyId, model, reason, outcome, from && timestampMs(from), to && timestampMs(to)];
}

function toMessage({ key: _key, at, ...request }: ListedRequest): Request {
  return { $typeName: "tollgate.metering.v1.Request", ...request, at: timestampFromMs(Math.floor(at)) };
}
