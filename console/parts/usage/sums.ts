import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { type GroupName, labelOf, type SecondName } from "./groups.ts";

/** The sums of one group over the whole span. */
export interface Sum {
  /** The account. Empty: more than one. */
  readonly accountId: string;
  /** Empty: service tokens, or more than one. */
  readonly keyId: string;
  /** Empty: more than one. */
  readonly model: string;
  /** The value of the label that is grouped by. Empty: none. */
  readonly label: string;
  /** The start of its hour, or its day. Empty: all of the span. */
  readonly time: string;
  readonly requests: bigint;
  readonly inputTokens: bigint;
  readonly outputTokens: bigint;
  readonly cost: bigint;
}

export function toSum(row: UsageRow): Sum {
  const { accountId, keyId, model, label, requests, inputTokens, outputTokens } = row;
  const time = row.hour || row.day;
  return { accountId, keyId, model, label, time, requests, inputTokens, outputTokens, cost: costOf(row) };
}

/**
 * What a sum is of in a grouping: the id of the account, the key or the model, the label's value, or the time. Empty:
 * service tokens, or no label.
 */
export function partOf({ accountId, keyId, model, label, time }: Sum, name: GroupName | SecondName): string {
  return labelOf(name) === undefined
    ? { account: accountId, key: keyId, model, hour: time, day: time }[name as SecondName]
    : label;
}

/** Adds sums up. */
export function addUp(sums: readonly Sum[]): Sum {
  const total = (pick: (sum: Sum) => bigint) => sums.reduce((all, sum) => all + pick(sum), 0n);
  return {
    accountId: "",
    keyId: "",
    model: "",
    label: "",
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
