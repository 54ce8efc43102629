import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { Storage } from "#src/storage/storage.ts";
import { allAccounts, hourOf, labelOf, sumsOfReceipts, sumsOfSums } from "../../store/rollups.ts";
import { spanHours } from "../../store/spans.ts";
import { Conditions } from "./conditions.ts";
import { cutHours, type Slots, type Span } from "./cut-hours.ts";
import {
  type AskedLabel,
  keptColumns,
  negated,
  type Part,
  summedPart,
  toldNames,
  type UsageQuestion,
} from "./usage-part.ts";

/** Where sums are read from: those of whole hours, and receipts for parts of hours. */
export interface Source {
  sums(hours: Span): Part[];
  receipts(fromMs: number, toMs: number): Part;
}

/** Sums over all requests. */
export const allSource = (dialect: Storage["dialect"], question: UsageQuestion): Source => ({
  sums: (hours) => sumParts(question, hours),
  receipts(fromMs, toMs) {
    const conditions = settledWithin(question, fromMs, toMs);
    return summedPart(question, hourOf[dialect]("settled_at"), "usage", sumsOfReceipts, conditions);
  },
});

/** Sums over requests with a label, or with one value of it. */
export const labelSource = (
  dialect: Storage["dialect"],
  question: UsageQuestion,
  { name, value }: AskedLabel,
): Source => ({
  sums(hours) {
    const conditions = filter(question);
    within(conditions, "hour", hours);
    conditions.add("name = ?", name);
    if (value) {
      conditions.add("value = ?", value);
    }
    return [summedPart(question, "hour", "usage_label", sumsOfSums, conditions, "value")];
  },
  receipts(fromMs, toMs) {
    const found = `(select usage.*, ${labelOf[dialect]} as label_value from usage where labels is not null) labelled`;
    const conditions = settledWithin(question, fromMs, toMs);
    conditions.add(value ? "label_value = ?" : "label_value is not null", ...(value ? [value] : []));
    const hour = hourOf[dialect]("settled_at");
    const part = summedPart(question, hour, found, sumsOfReceipts, conditions, "label_value");
    return { ...part, parameters: [name, ...part.parameters] };
  },
});

function settledWithin(question: UsageQuestion, fromMs: number, toMs: number): Conditions {
  const conditions = filter(question);
  conditions.add("settled_at >= ?", new Date(fromMs));
  conditions.add("settled_at < ?", new Date(toMs));
  return conditions;
}

/**
 * Sums of whole hours: long slots unless rows are grouped by the hour, shorter slots beside them, and tallies not
 * folded yet.
 */
function sumParts(question: UsageQuestion, hours: Span): Part[] {
  const { groups } = question;
  const longest = groups.has(UsageGroup.HOUR) ? 1 : groups.has(UsageGroup.DAY) ? 24 : Number.POSITIVE_INFINITY;
  const cut = (lengths: readonly number[]) =>
    cutHours(
      hours,
      lengths.filter((length) => length <= longest),
    );
  const isOfSpans = question.accountId === "" && !isTogether(question);
  const sums = cut(isOfSpans ? spanHours : [1, 24]).map((slots) => {
    const part = isOfSpans ? spanPart(question, slots) : rollupPart(question, slots);
    return slots.isOff ? negated(question, part) : part;
  });
  return [...sums, tallyPart(question, hours)];
}

/** Whether the sums over all accounts and keys, which are kept for each model, answer the question. */
function isTogether({ accountId, keyId, groups }: UsageQuestion): boolean {
  return accountId === "" && keyId === "" && !groups.has(UsageGroup.ACCOUNT) && !groups.has(UsageGroup.KEY);
}

/** Selects rows of spans as they are: summing up each part first takes twice as long. */
function spanPart(question: UsageQuestion, { hours, ...slots }: Slots): Part {
  const { keyId, model, groups } = question;
  const isOfAccounts = keyId === "" && model === "" && !groups.has(UsageGroup.KEY) && !groups.has(UsageGroup.MODEL);
  const conditions = filter(question);
  conditions.add(`detail = '${isOfAccounts ? "account" : "key"}'`);
  conditions.add("hours = ?", hours);
  within(conditions, "slot", slots);
  const kept = keptColumns(question).map(({ name, sql }) => `${sql(`slot * ${hours}`)} as ${name}`);
  const sql = `select ${[...kept, ...toldNames].join(", ")} from usage_span ${conditions.where}`;
  return { sql, parameters: conditions.parameters };
}

function rollupPart(question: UsageQuestion, { hours, ...slots }: Slots): Part {
  const conditions = filter(question);
  if (question.accountId === "") {
    conditions.add(`account_id ${isTogether(question) ? "=" : "<>"} '${allAccounts}'`);
  }
  conditions.add("span = ?", hours === 1 ? "hour" : "day");
  within(conditions, "slot", slots);
  return summedPart(question, `slot * ${hours}`, "usage_rollup", sumsOfSums, conditions);
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
