import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import type { SecondName } from "./groups.ts";

/** The sums of one group over the whole span. */
export interface Sum {
  /** The account. Empty: more than one. */
  readonly accountId: string;
  /** Empty: service tokens, or more than one. */
  readonly keyId: string;
  /** Empty: more than one. */
  readonly model: string;
  /** The start of its hour, or its day. Empty: all of the span. */
  readonly time: string;
  readonly requests: bigint;
  readonly inputTokens: bigint;
  readonly outputTokens: bigint;
  readonly cost: bigint;
}

export function toSum(row: UsageRow): Sum {
  const { accountId, keyId, model, requests, inputTokens, outputTokens } = row;
  return { accountId, keyId, model, time: row.hour || row.day, requests, inputTokens, outputTokens, cost: costOf(row) };
}

/** What a sum is of in a grouping: the id of the account, the key or the model, or the time. Empty: service tokens. */
export function partOf({ accountId, keyId, model, time }: Sum, name: SecondName): string {
  return { account: accountId, key: keyId, model, hour: time, day: time }[name];
}

/** Adds sums up. */
export function addUp(sums: readonly Sum[]): Sum {
  const total = (pick: (sum: Sum) => bigint) => sums.reduce((all, sum) => all + pick(sum), 0n);
  return {
    accountId: "",
    keyId: "",
    model: "",
    time: "",
    requests: total(({ requests }) => requests),
    inputTokens: total(({ inputTokens }) => inputTokens),
    outputTokens: total(({ outputTokens }) => outputTokens),
    cost: total(({ cost }) => cost),
  };
}

export function costOf(row: UsageRow): bigint {
  return row.totalCostPicoUsd === "" ? row.costPicoUsd : BigInt(row.totalCostPicoUsd);
}

/** The start of an hour or day, in Unix seconds. */
export function secondsAt(time: string): number {
  return Date.parse(time.includes("T") ? time : `${time}T00:00:00Z`) / 1000;
}
