import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { isCustomer } from "../../app/session.ts";
import { metering } from "../../contract/clients.ts";
import { addUp, type GroupName, type Period, type Sum, toSum } from "./view.ts";

/** The usage of a period. */
export interface Used {
  /** The groups with the highest cost, in that order. */
  readonly sums: readonly Sum[];
  /** Whether there are more groups than these. */
  readonly hasMore: boolean;
  /** The first of these groups over time, by the hour or day. */
  readonly lines: readonly Line[];
}

/** One group's usage over time. */
export interface Line {
  readonly id: string;
  /** The account of the group. Empty: more than one account. */
  readonly accountId: string;
  readonly rows: readonly UsageRow[];
}

/** The most lines of the plot. Further groups are only in the table. */
const mostLines = 4;

/** Keys are grouped with their accounts, whose names say more. */
const groupsOf = (group: GroupName): UsageGroup[] =>
  ({
    account: [UsageGroup.ACCOUNT],
    key: isCustomer.peek() ? [UsageGroup.KEY] : [UsageGroup.ACCOUNT, UsageGroup.KEY],
    model: [UsageGroup.MODEL],
  })[group];
const stepOf = ({ step }: Period) => (step === "hour" ? UsageGroup.HOUR : UsageGroup.DAY);
const filters = { account: "accountId", key: "keyId", model: "model" } as const;

/** Loads the total, which is available long before its parts. */
export async function loadTotal(from: Date, signal: AbortSignal): Promise<Sum> {
  const rows = await ask({ groupBy: [UsageGroup.MODEL], from: toTimestamp(from) }, signal);
  return addUp(rows.map((row) => toSum(row, "model")));
}

/** Loads only the groups with the highest cost, however many groups there are. */
export async function loadUsage(
  group: GroupName,
  period: Period,
  from: Date,
  most: number,
  signal: AbortSignal,
): Promise<Used> {
  const found = await ask({ groupBy: groupsOf(group), from: toTimestamp(from), dearest: most + 1 }, signal);
  const sums = found.slice(0, most).map((row) => toSum(row, group));
  const lines = sums
    .filter(({ id }) => id !== "")
    .slice(0, mostLines)
    .map(async ({ id, accountId }) => ({
      id,
      accountId,
      rows: await ask({ groupBy: [stepOf(period)], from: toTimestamp(from), [filters[group]]: id }, signal),
    }));
  return {
    sums,
    hasMore: found.length > most,
    lines: await Promise.all(lines),
  };
}

/** Loads every group by the hour or day, for a file. */
export function loadAll(group: GroupName, period: Period, from: Date, signal: AbortSignal): Promise<UsageRow[]> {
  return ask({ groupBy: [...groupsOf(group), stepOf(period)], from: toTimestamp(from) }, signal);
}

const toTimestamp = (date: Date) => ({ seconds: BigInt(Math.floor(date.getTime() / 1000)) });

async function ask(request: Parameters<typeof metering.streamUsage>[0], signal: AbortSignal): Promise<UsageRow[]> {
  const rows: UsageRow[] = [];
  for await (const piece of metering.streamUsage(request, { signal })) {
    rows.push(...piece.rows);
  }
  return rows;
}
