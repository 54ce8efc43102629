import type { Request } from "#gen/tollgate/metering/v1/request_pb.js";
import { type Receipt, ReceiptStatus } from "#gen/tollgate/metering/v1/usage_pb.js";
import { toMilliseconds } from "#lib/time/duration.ts";
import { RequestRecord } from "#src/storage/entities/history/request-record.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { readEntity } from "#src/storage/reads/read-entity.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";

/** A request of a page. */
export type ListedRequest = Omit<Request, "$typeName" | "$unknown" | "at"> & {
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** Where the next page begins after it. */
  readonly key: string;
};

export function readRefused(row: Row): ListedRequest {
  const record = readEntity(RequestRecord, row);
  const { id, at, accountId, durationMs, leftOut, ...others } = record;
  return {
    ...others,
    accountId: accountId ?? "",
    durationMs: BigInt(durationMs),
    leftOut: BigInt(leftOut),
    at: at.getTime(),
    key: `${at.getTime()} r ${id}`,
  };
}

/** Its response was begun with 200 unless it failed, which may be before or after. */
export function readFinished(row: Row): ListedRequest {
  const { requestId, runId, accountId, keyId, model, surface, server, status, durationMs, settledAt } = readEntity(
    Usage,
    row,
  );
  const at = typeof row.settled_at === "number" ? row.settled_at : settledAt.getTime();
  return {
    requestId,
    accountId,
    keyId,
    model,
    surface: surface ?? "",
    reason: "",
    httpStatus: isHttp(surface) && status !== "failed" ? 200 : 0,
    durationMs: BigInt(durationMs ?? 0),
    server: server ?? "",
    leftOut: 0n,
    at,
    key: `${at} f ${runId} ${requestId}`,
  };
}

/** The same of a receipt that has left the books. */
export function readArchived({
  requestId,
  accountId,
  keyId,
  model,
  ...receipt
}: Receipt): Omit<ListedRequest, "at" | "key"> {
  const { surface, server, status, duration } = receipt;
  return {
    ...{ requestId, accountId, keyId, model, surface, server, reason: "" },
    httpStatus: isHttp(surface) && status !== ReceiptStatus.FAILED ? 200 : 0,
    durationMs: BigInt(duration === undefined ? 0 : toMilliseconds(duration)),
    leftOut: 0n,
  };
}

function isHttp(surface: string | null | undefined): boolean {
  return surface !== null && surface !== undefined && surface !== "" && surface !== "grpc";
}
