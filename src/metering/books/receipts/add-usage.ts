import { type StreamUsageRequest, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import type { Storage } from "../../../storage/orm.ts";
import { streamUsage } from "./usage.ts";

const mostInt64 = 2n ** 63n - 1n;

/**
 * The usage of all accounts of these databases. Rows of accounts come a database after the other, as each is in one alone;
 * sums over accounts are added up, in memory: so many as there are models, in so many hours or days.
 */
export async function* addUsage(storages: readonly Storage[], request: StreamUsageRequest): AsyncGenerator<UsageRow[]> {
  const [only] = storages;
  if (only !== undefined && storages.length === 1) {
    yield* streamUsage(only, request);
    return;
  }
  const isApart = readApartness(request);
  // What is dearest of sums that are in several databases shows once all of them are added up.
  const asked = isApart === always ? request : { ...request, dearest: 0 };
  const sums = new Map<string, UsageRow>();
  const dearest: UsageRow[] = [];
  for (const storage of storages) {
    for await (const rows of streamUsage(storage, asked)) {
      for (const row of rows.filter((row) => !isApart(row))) {
        const key = JSON.stringify([row.keyId, row.model, row.day, row.hour]);
        sums.set(key, add(sums.get(key), row));
      }
      const apart = rows.filter(isApart);
      if (request.dearest === 0) {
        yield apart;
      } else {
        dearest.push(...apart);
        keepDearest(dearest, request.dearest);
      }
    }
  }
  if (request.dearest === 0) {
    yield [...sums.values()].sort(byGroups);
  } else {
    dearest.push(...sums.values());
    keepDearest(dearest, request.dearest);
    yield dearest;
  }
}

const always = () => true;

/** Tells which rows are of one account, so that no other database has the same: of an account, or of a key of one. */
function readApartness({ accountId, groupBy }: StreamUsageRequest): (row: UsageRow) => boolean {
  if (accountId !== "") {
    return () => false; // it has moved: each database has a part
  }
  if (groupBy.length === 0 || groupBy.includes(UsageGroup.ACCOUNT)) {
    return always;
  }
  return groupBy.includes(UsageGroup.KEY) ? ({ keyId }) => keyId !== "" : () => false;
}

function add(sum: UsageRow | undefined, row: UsageRow): UsageRow {
  if (sum === undefined) {
    return row;
  }
  const cost = readCost(sum) + readCost(row);
  return {
    ...row,
    requests: sum.requests + row.requests,
    inputTokens: sum.inputTokens + row.inputTokens,
    outputTokens: sum.outputTokens + row.outputTokens,
    costPicoUsd: cost < mostInt64 ? cost : mostInt64,
    totalCostPicoUsd: String(cost),
  };
}

/** Leaves so many rows, those that cost most first. */
function keepDearest(rows: UsageRow[], most: number): void {
  rows.sort((one, other) => {
    const [a, b] = [readCost(one), readCost(other)];
    return a === b ? byGroups(one, other) : a < b ? 1 : -1;
  });
  rows.length = Math.min(rows.length, most);
}

function readCost({ totalCostPicoUsd }: UsageRow): bigint {
  return BigInt(totalCostPicoUsd);
}

function byGroups(one: UsageRow, other: UsageRow): number {
  const [a, b] = [one, other].map(({ keyId, model, day, hour }) => [keyId, model, day, hour].join("\0"));
  return (a ?? "") < (b ?? "") ? -1 : 1;
}
