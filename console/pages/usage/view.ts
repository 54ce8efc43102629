import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";

/** What usage is grouped by. */
export type GroupName = "account" | "key" | "model";

/** A span of time up to now. */
export interface Period {
  readonly value: string;
  readonly text: string;
  readonly step: "hour" | "day";
  /** The beginning: the start of an hour or a day in UTC. */
  readonly from: (now: Date) => Date;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startOf = (ms: number, stepMs: number) => new Date(Math.floor(ms / stepMs) * stepMs);

const day: Period = {
  value: "day",
  text: "24 hours",
  step: "hour",
  from: (now) => startOf(now.getTime() - 23 * hourMs, hourMs),
};

export const periods: readonly Period[] = [
  day,
  { value: "week", text: "7 days", step: "day", from: (now) => startOf(now.getTime() - 6 * dayMs, dayMs) },
  { value: "month", text: "30 days", step: "day", from: (now) => startOf(now.getTime() - 29 * dayMs, dayMs) },
  { value: "quarter", text: "90 days", step: "day", from: (now) => startOf(now.getTime() - 89 * dayMs, dayMs) },
];

/** The period named in the address. */
export function periodOf(value: string | null): Period {
  return periods.find((period) => period.value === value) ?? day;
}

/** The grouping named in the address. A customer has one account, so it cannot group by account. */
export function by(value: string | null, isCustomer: boolean): GroupName {
  const isKnown = value === "key" || value === "model" || (value === "account" && !isCustomer);
  return isKnown ? value : "model";
}

export function groupNames(isCustomer: boolean): readonly { readonly value: GroupName; readonly text: string }[] {
  const names = [
    { value: "model", text: "Model" },
    { value: "key", text: "Key" },
  ] as const;
  return isCustomer ? names : [...names, { value: "account", text: "Account" }];
}

/** The sums of one group over the whole period. */
export interface Sum {
  /** The id of the account, the key or the model. Empty: service tokens. */
  readonly id: string;
  /** The account. Empty: more than one. */
  readonly accountId: string;
  readonly requests: bigint;
  readonly inputTokens: bigint;
  readonly outputTokens: bigint;
  readonly cost: bigint;
}

export function toSum(row: UsageRow, group: GroupName): Sum {
  const { accountId, requests, inputTokens, outputTokens } = row;
  const id = { account: accountId, key: row.keyId, model: row.model }[group];
  return { id, accountId, requests, inputTokens, outputTokens, cost: costOf(row) };
}

/** Adds sums up. */
export function addUp(sums: readonly Sum[]): Sum {
  const total = (pick: (sum: Sum) => bigint) => sums.reduce((all, sum) => all + pick(sum), 0n);
  return {
    id: "",
    accountId: "",
    requests: total(({ requests }) => requests),
    inputTokens: total(({ inputTokens }) => inputTokens),
    outputTokens: total(({ outputTokens }) => outputTokens),
    cost: total(({ cost }) => cost),
  };
}

export function costOf(row: UsageRow): bigint {
  return row.totalCostPicoUsd === "" ? row.costPicoUsd : BigInt(row.totalCostPicoUsd);
}

/** The start of a row's hour or day, in Unix seconds. */
export function timeOf(row: UsageRow): number {
  return Date.parse(row.hour === "" ? `${row.day}T00:00:00Z` : row.hour) / 1000;
}

/** The start of every hour or day from `from` until now, in Unix seconds. */
export function stepsOf(period: Period, from: Date): readonly number[] {
  const stepMs = period.step === "hour" ? hourMs : dayMs;
  const count = Math.floor((Date.now() - from.getTime()) / stepMs) + 1;
  return Array.from({ length: count }, (_, index) => (from.getTime() + index * stepMs) / 1000);
}
