import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { type Command, InvalidArgumentError } from "commander";
import { MeteringService, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { formatUsd } from "#lib/money.ts";
import { count, moment, words } from "../shared/arguments.ts";
import type { Io } from "../shared/io.ts";
import { addQuestion } from "./ask-core.ts";

const groupings: Record<string, UsageGroup> = {
  account: UsageGroup.ACCOUNT,
  key: UsageGroup.KEY,
  model: UsageGroup.MODEL,
  day: UsageGroup.DAY,
  hour: UsageGroup.HOUR,
};

/** The usage that is asked for. */
export interface UsageOptions {
  readonly account?: string;
  readonly key?: string;
  readonly model?: string;
  readonly from?: Date;
  readonly to?: Date;
  readonly by: readonly string[];
  readonly top?: number;
}

/** The usual groups. */
export const usualGroups = ["account", "key", "model"];

/** `tollgate usage` */
export function addUsage(program: Command, io: Io): void {
  addQuestion<[], UsageOptions>(program, "usage", io, {
    description: "sum requests, tokens and cost",
    options: (command) =>
      command
        .option("--account <account>", "only this account")
        .option("--key <key>", "only this key")
        .option("--model <model>", "only this model")
        .option("--from <time>", "settled at or after, such as 2026-01-31 or 2026-01-31T12:00:00Z", moment)
        .option("--to <time>", "settled before", moment)
        .option("--by <groups>", "what to group by: account, key, model, day, hour", groups, usualGroups)
        .option("--top <n>", "only this many groups, those that cost most", count),
    ask: async (core, options) => {
      const rows = [];
      for await (const piece of createClient(MeteringService, core).streamUsage(toUsageRequest(options))) {
        for (const row of piece.rows) {
          rows.push(usageDocument(row, options));
        }
      }
      return rows;
    },
  });
}

/** The question as a message of the contract. */
export function toUsageRequest({ account = "", key = "", model = "", from, to, by, top = 0 }: UsageOptions) {
  return {
    accountId: account,
    keyId: key,
    model,
    dearest: top,
    ...(from ? { from: timestampFromDate(from) } : {}),
    ...(to ? { to: timestampFromDate(to) } : {}),
    groupBy: by.map((group) => groupings[group] ?? UsageGroup.UNSPECIFIED),
  };
}

/** A row with the fields that it is grouped by, and those that all rows share because they were filtered by. */
export function usageDocument(row: UsageRow, { account, key, model, by }: UsageOptions) {
  return {
    ...(account !== undefined || by.includes("account") ? { account_id: account ?? row.accountId } : {}),
    ...(key !== undefined || by.includes("key") ? { key_id: key ?? row.keyId } : {}),
    ...(model !== undefined || by.includes("model") ? { model: model ?? row.model } : {}),
    ...(by.includes("day") ? { day: row.day } : {}),
    ...(by.includes("hour") ? { hour: row.hour } : {}),
    requests: Number(row.requests),
    input_tokens: Number(row.inputTokens),
    output_tokens: Number(row.outputTokens),
    cost_usd: formatUsd(row.totalCostPicoUsd === "" ? row.costPicoUsd : BigInt(row.totalCostPicoUsd)),
  };
}

/** Reads names of groups. */
export function groups(text: string): string[] {
  const named = words(text);
  if (named.every((group) => Object.hasOwn(groupings, group))) {
    return named;
  }
  throw new InvalidArgumentError(`It must be some of ${Object.keys(groupings).join(", ")} with commas between.`);
}
