import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { formatUsd } from "../../../../lib/money/money.ts";
import { costOf } from "../../../parts/usage/sums.ts";

const names = [
  "time",
  "account_id",
  "key_id",
  "model",
  "label",
  "requests",
  "input_tokens",
  "output_tokens",
  "cost_usd",
];

/** All groups of the page, by the hour or day, as the lines of a file for spreadsheets. */
export function toLines(rows: readonly UsageRow[]) {
  const lines = rows.map((row) => [
    row.hour || row.day,
    row.accountId,
    row.keyId,
    row.model,
    row.label,
    row.requests,
    row.inputTokens,
    row.outputTokens,
    formatUsd(costOf(row)),
  ]);
  return [names, ...lines];
}
