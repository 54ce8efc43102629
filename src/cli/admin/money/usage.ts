import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { type Command, InvalidArgumentError } from "commander";
import { MeteringService, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { formatUsd } from "#lib/money/money.ts";
import { count, moment, words } from "../../shared/arguments.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { costOf, toWeeksOfUsage } from "./weeks.ts";

const groupings: Record<string, UsageGroup> = {
  account: UsageGroup.ACCOUNT,
  key: UsageGroup.KEY,
  model: UsageGroup.MODEL,
  day: UsageGroup.DAY,
  hour: UsageGroup.HOUR,
};

/** Groups that the contract does not know: they are added up here. */
const added = ["week"];

/** The usage that is asked for. */
export interface UsageOptions {
  readonly account?: string;
  readonly key?: string;
  readonly model?: string;
  readonly from?: Date;
  readonly to?: Date;
  /** Names of groups, and `label:NAME` for one attribution label. */
  readonly by: readonly string[];
  readonly label?: LabelFilter;
  readonly top?: number;
}

/** A label and the value that is asked for. Empty: none. */
export interface LabelFilter {
  readonly name: string;
  readonly value: string;
}

/** What stands before the name of a label that is grouped by. */
const labelPrefix = "label:";

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
        .option("--from <time>", "settled at or after, such as yesterday, 2026-01-31 or 2026-01-31T12:00:00Z", moment)
        .option("--to <time>", "settled before", moment)
        .option(
          "--by <groups>",
          "what to group by: account, key, model, week, day, hour, and label:NAME for one label",
          groups,
          usualGroups,
        )
        .option("--label <name=value>", "only requests with this label; name= for those without it", labelFilter)
        .option("--top <n>", "only this many groups, those that cost most", count),
    ask: async (core, options) => {
      const isByWeek = options.by.includes("week");
      const request = toUsageRequest(isByWeek ? { ...options, top: 0 } : options);
      const rows: UsageRow[] = [];
      for await (const piece of createClient(MeteringService, core).streamUsage(request)) {
        rows.push(...piece.rows);
      }
      const shown = isByWeek ? toTop(toWeeksOfUsage(rows), options.top) : rows;
      return shown.map((row) => usageDocument(row, options));
    },
  });
}

/** The question as a message of the contract. */
export function toUsageRequest({ account = "", key = "", model = "", from, to, by, top = 0, label }: UsageOptions) {
  const labelName = findLabel(by) ?? label?.name ?? "";
  if (label !== undefined && label.name !== labelName) {
    throw new Error("usage is told by one label at a time: --by and --label must name the same one");
  }
  return {
    labelName,
    ...(label && { labelValue: label.value }),
    accountId: account,
    keyId: key,
    model,
    dearest: top,
    ...(from ? { from: timestampFromDate(from) } : {}),
    ...(to ? { to: timestampFromDate(to) } : {}),
    groupBy: by.map((group) =>
      group.startsWith(labelPrefix) ? UsageGroup.LABEL : (groupings[group] ?? UsageGroup.DAY),
    ),
  };
}

/** The label that is grouped by. Undefined: none. */
const findLabel = (by: readonly string[]) =>
  by.find((group) => group.startsWith(labelPrefix))?.slice(labelPrefix.length);

/** Reads a label and its value, such as app=Cline. */
export function labelFilter(text: string): LabelFilter {
  const at = text.indexOf("=");
  if (at < 1) {
    throw new InvalidArgumentError("It must be a label's name and a value, such as app=Cline.");
  }
  return { name: text.slice(0, at), value: text.slice(at + 1) };
}

/** A row with the fields that it is grouped by, and those that all rows share because they were filtered by. */
export function usageDocument(row: UsageRow, { account, key, model, by, label }: UsageOptions) {
  const labelName = findLabel(by) ?? label?.name;
  return {
    ...(labelName !== undefined && { [`label_${labelName}`]: label?.value ?? row.label }),
    ...(account !== undefined || by.includes("account") ? { account_id: account ?? row.accountId } : {}),
    ...(key !== undefined || by.includes("key") ? { key_id: key ?? row.keyId } : {}),
    ...(model !== undefined || by.includes("model") ? { model: model ?? row.model } : {}),
    ...(by.includes("week") ? { week: row.day } : {}),
    ...(by.includes("day") ? { day: row.day } : {}),
    ...(by.includes("hour") ? { hour: row.hour } : {}),
    requests: Number(row.requests),
    input_tokens: Number(row.inputTokens),
    output_tokens: Number(row.outputTokens),
    cost_usd: formatUsd(costOf(row)),
  };
}

/** The rows that cost most, in that order. Undefined: all as they are. */
function toTop(rows: readonly UsageRow[], most: number | undefined): readonly UsageRow[] {
  if (most === undefined) {
    return rows;
  }
  return rows.toSorted((one, other) => Number(costOf(other) - costOf(one))).slice(0, most);
}

/** Reads names of groups. A week stands with neither days nor hours, which are parts of it. */
export function groups(text: string): string[] {
  const named = words(text);
  if (named.includes("week") && (named.includes("day") || named.includes("hour"))) {
    throw new InvalidArgumentError("It must be week, or day and hour.");
  }
  return readGroups(named, [...Object.keys(groupings), ...added]);
}

/** Reads names of groups that the contract knows. */
export function contractGroups(text: string): string[] {
  return readGroups(words(text), Object.keys(groupings));
}

function readGroups(named: string[], known: readonly string[]): string[] {
  const [label, another] = named.filter((group) => group.startsWith(labelPrefix));
  if (another !== undefined || label === labelPrefix) {
    throw new InvalidArgumentError("It must be one label, such as label:app.");
  }
  if (named.every((group) => group === label || known.includes(group))) {
    return named;
  }
  throw new InvalidArgumentError(`It must be some of ${known.join(", ")}, label:NAME with commas between.`);
}
