import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { bySum } from "../../../storage/exact-sum.ts";
import type { Storage } from "../../../storage/orm.ts";
import { allAccounts, hourOf, sumsOfReceipts, sumsOfSums } from "../../store/rollups.ts";
import { Conditions } from "./conditions.ts";

const hourMs = 3_600_000;

/** The usage that is asked for. Empty texts: all. */
export interface UsageQuestion {
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly groups: ReadonlySet<UsageGroup>;
  /** Settled at or after, in milliseconds since the epoch. Absent: from the beginning. */
  readonly fromMs?: number;
  /** Settled before. Absent: until now. */
  readonly toMs?: number;
  /** How many groups at most, those that cost most first. 0: all, in the order of the groups. */
  readonly dearest?: number;
}

/** What rows are kept apart by, in their order, from what is known of the hour. */
const columns = new Map<UsageGroup, { readonly name: string; readonly sql: (hour: string) => string }>([
  [UsageGroup.ACCOUNT, { name: "account_id", sql: () => "account_id" }],
  [UsageGroup.KEY, { name: "key_id", sql: () => "key_id" }],
  [UsageGroup.MODEL, { name: "model", sql: () => "model" }],
  [UsageGroup.DAY, { name: "day", sql: (hour) => `${hour} / 24` }],
  [UsageGroup.HOUR, { name: "hour", sql: (hour) => hour }],
]);

/** A span of whole hours or days. An end that is absent is open. */
interface Span {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** A part of the union: its columns are those of the groups and the sums. */
interface Part {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** The query for the sums asked for, in the order of the groups. */
export function usageQuery(
  dialect: Storage["dialect"],
  question: UsageQuestion,
): { sql: string; parameters: readonly unknown[] } {
  const parts =
    question.fromMs === undefined && question.toMs === undefined
      ? sumParts(question, { from: undefined, to: undefined })
      : boundedParts(dialect, question);
  const kept = keptColumns(question);
  const places = kept.map((_, at) => at + 1).join(", ");
  const { dearest = 0 } = question;
  const order = dearest === 0 ? places : `${bySum("cost")}, ${places} limit ${dearest}`;
  const sql = `
    select ${kept.map(({ name }) => `${name}, `).join("")}${sumsOfSums}
    from (${parts.map((part) => part.sql).join(" union all ")}) parts
    group by ${places} order by ${order}`;
  return { sql, parameters: parts.flatMap((part) => part.parameters) };
}

function keptColumns({ groups }: UsageQuestion) {
  return [...columns].filter(([group]) => groups.has(group)).map(([, column]) => column);
}

/** A part that is summed up by itself, in the order of an index where there is one, so that no union of all rows is sorted. */
function summedPart(question: UsageQuestion, hour: string, from: string, sums: string, where: Conditions): Part {
  const kept = keptColumns(question).map(({ name, sql }) => `${sql(hour)} as ${name}, `);
  const places = kept.map((_, at) => at + 1).join(", ");
  const sql = `select ${kept.join("")}${sums} from ${from} ${where.where} group by ${places}`;
  return { sql, parameters: where.parameters };
}

/** Whole hours from sums; the parts of hours at either end from receipts. */
function boundedParts(dialect: Storage["dialect"], question: UsageQuestion): Part[] {
  const { fromMs, toMs } = question;
  const from = fromMs === undefined ? undefined : Math.ceil(fromMs / hourMs);
  const to = toMs === undefined ? undefined : Math.floor(toMs / hourMs);
  const receipts = (ends: { fromMs?: number | undefined; toMs?: number | undefined }) =>
    receiptPart(dialect, { ...question, ...ends });
  if (from !== undefined && to !== undefined && from > to) {
    return [receipts({})];
  }
  return [
    ...(from === undefined || from * hourMs === fromMs ? [] : [receipts({ toMs: from * hourMs })]),
    ...sumParts(question, { from, to }),
    ...(to === undefined || to * hourMs === toMs ? [] : [receipts({ fromMs: to * hourMs })]),
  ];
}

function receiptPart(
  dialect: Storage["dialect"],
  { fromMs, toMs, ...question }: { [Name in keyof UsageQuestion]: UsageQuestion[Name] | undefined },
): Part {
  const conditions = filter(question as UsageQuestion);
  if (fromMs !== undefined) {
    conditions.add("settled_at >= ?", new Date(fromMs));
  }
  if (toMs !== undefined) {
    conditions.add("settled_at < ?", new Date(toMs));
  }
  const hour = hourOf[dialect]("settled_at");
  return summedPart(question as UsageQuestion, hour, "usage", sumsOfReceipts, conditions);
}

/** Sums of whole hours: days where hours are not kept apart, hours beside them, and what is not folded yet. */
function sumParts(question: UsageQuestion, hours: Span): Part[] {
  const folded = question.groups.has(UsageGroup.HOUR)
    ? [rollupPart(question, "hour", hours)]
    : dayParts(question, hours);
  return [...folded, tallyPart(question, hours)];
}

function dayParts(question: UsageQuestion, { from, to }: Span): Part[] {
  const days = {
    from: from === undefined ? undefined : Math.ceil(from / 24),
    to: to === undefined ? undefined : Math.floor(to / 24),
  };
  if (days.from !== undefined && days.to !== undefined && days.from >= days.to) {
    return [rollupPart(question, "hour", { from, to })];
  }
  const edge = (span: Span) => (span.from === span.to ? [] : [rollupPart(question, "hour", span)]);
  return [
    ...(days.from === undefined ? [] : edge({ from, to: days.from * 24 })),
    rollupPart(question, "day", days),
    ...(days.to === undefined ? [] : edge({ from: days.to * 24, to })),
  ];
}

function rollupPart(question: UsageQuestion, span: "hour" | "day", { from, to }: Span): Part {
  const { accountId, keyId, groups } = question;
  const conditions = filter(question);
  if (accountId === "") {
    const together = keyId === "" && !groups.has(UsageGroup.ACCOUNT) && !groups.has(UsageGroup.KEY);
    conditions.add(`account_id ${together ? "=" : "<>"} '${allAccounts}'`);
  }
  conditions.add("span = ?", span);
  within(conditions, "slot", { from, to });
  const hour = span === "hour" ? "slot" : "slot * 24";
  return summedPart(question, hour, "usage_rollup", sumsOfSums, conditions);
}

function tallyPart(question: UsageQuestion, hours: Span): Part {
  const conditions = filter(question);
  within(conditions, "hour", hours);
  return summedPart(question, "hour", "usage_tally", sumsOfSums, conditions);
}

function within(conditions: Conditions, column: string, { from, to }: Span): void {
  if (from !== undefined) {
    conditions.add(`${column} >= ?`, from);
  }
  if (to !== undefined) {
    conditions.add(`${column} < ?`, to);
  }
}

function filter({ accountId, keyId, model }: UsageQuestion): Conditions {
  const conditions = new Conditions();
  if (accountId !== "") {
    conditions.add("account_id = ?", accountId);
  }
  if (keyId !== "") {
    conditions.add("key_id = ?", keyId);
  }
  if (model !== "") {
    conditions.add("model = ?", model);
  }
  return conditions;
}
