import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { bySum } from "#src/storage/reads/exact-sum.ts";
import type { Storage } from "#src/storage/storage.ts";
import { allAccounts, hourOf, labelOf, sumNames, sumsOfReceipts, sumsOfSums } from "../../store/rollups.ts";
import { spanHours } from "../../store/spans.ts";
import { Conditions } from "./conditions.ts";
import { cutHours, type Slots, type Span } from "./cut-hours.ts";

const hourMs = 3_600_000;

/** The usage that is asked for. An empty text matches all. */
export interface UsageQuestion {
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly groups: ReadonlySet<UsageGroup>;
  /** The attribution label that is grouped or filtered by. Absent: none. */
  readonly label?: AskedLabel;
  /** Settled at or after, in milliseconds since the epoch. Absent: from the beginning. */
  readonly fromMs?: number;
  /** Settled before, in milliseconds since the epoch. Absent: until now. */
  readonly toMs?: number;
  /** The most groups, those that cost most first. 0: all, in the order of the groups. */
  readonly dearest?: number;
}

/** A label, and the value that is asked for. Undefined: any, and none. Empty: none. */
export interface AskedLabel {
  readonly name: string;
  readonly value: string | undefined;
}

/** The columns that rows can be grouped by, in order, each computed from the hour. */
const columns = new Map<UsageGroup, { readonly name: string; readonly sql: (hour: string) => string }>([
  [UsageGroup.ACCOUNT, { name: "account_id", sql: () => "account_id" }],
  [UsageGroup.KEY, { name: "key_id", sql: () => "key_id" }],
  [UsageGroup.MODEL, { name: "model", sql: () => "model" }],
  [UsageGroup.DAY, { name: "day", sql: (hour) => `${hour} / 24` }],
  [UsageGroup.HOUR, { name: "hour", sql: (hour) => hour }],
]);

/** The sums that an answer contains. */
const toldNames = sumNames.filter((name) => name !== "shortfall");
const toldSums = toldNames.map((name) => `sum(${name}) as ${name}`).join(", ");

/** One part of the union. Its columns are those of the groups and the sums, which are 64-bit. */
interface Part {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Where sums are read from: those of whole hours, and receipts for parts of hours. */
interface Source {
  sums(hours: Span): Part[];
  receipts(fromMs: number, toMs: number): Part;
}

/** The column of a label's value, where one is asked for. Empty: the requests have no such label. */
const labelColumn = "label";

/** The query for these sums, in the order of the groups. */
export function usageQuery(
  dialect: Storage["dialect"],
  question: UsageQuestion,
): { sql: string; parameters: readonly unknown[] } {
  const { sql: from, parameters } = join(
    question.label === undefined
      ? partsFrom(allSource(dialect, question), question)
      : labelParts(dialect, question, question.label),
  );
  const kept = keptColumns(question)
    .map(({ name }) => name)
    .filter((name) => name !== labelColumn || question.groups.has(UsageGroup.LABEL));
  const places = kept.map((_, at) => at + 1).join(", ");
  const { dearest = 0 } = question;
  const order = dearest === 0 ? places : `${bySum("cost")}, ${places} limit ${dearest}`;
  const sql = `
    select ${kept.map((name) => `${name}, `).join("")}${toldSums}
    from (${from}) parts
    group by ${places} having sum(requests) > 0 order by ${order}`;
  return { sql, parameters };
}

const join = (parts: readonly Part[]): Part => ({
  sql: parts.map((part) => part.sql).join(" union all "),
  parameters: parts.flatMap((part) => part.parameters),
});

/**
 * The sums of a label's values. Those of requests without the label are the sums of all, less those of all values: so they
 * add up to what is told without a label.
 */
function labelParts(dialect: Storage["dialect"], question: UsageQuestion, label: AskedLabel): Part[] {
  const { value } = label;
  const labelled = join(partsFrom(labelSource(dialect, question, label), question));
  if (value !== undefined && value !== "") {
    return [labelled];
  }
  const all = join(partsFrom(allSource(dialect, question), question));
  const names = keptColumns(question).map(({ name }) => (name === labelColumn ? `'' as ${name}` : name));
  const taken = [...names, ...toldNames.map((name) => `-${name}`)].join(", ");
  const less = { sql: `select ${taken} from (${labelled.sql}) taken`, parameters: labelled.parameters };
  return [all, less, ...(value === undefined ? [labelled] : [])];
}

/** The columns of a part. `label`: the label's value in SQL. */
function keptColumns({ groups, label: asked }: UsageQuestion, label = "''") {
  const ofLabel = asked === undefined ? [] : [{ name: labelColumn, sql: () => label }];
  return [...ofLabel, ...[...columns].filter(([group]) => groups.has(group)).map(([, column]) => column)];
}

/**
 * A part that is summed up by itself, in the order of an index where there is one, so that the union of all rows is not
 * sorted. PostgreSQL's sums are numeric: one of them in the union would make it convert all rows of the other parts,
 * which takes longer than reading them.
 */
function summedPart(
  question: UsageQuestion,
  hour: string,
  from: string,
  sums: string,
  where: Conditions,
  label?: string,
): Part {
  const columns = keptColumns(question, label);
  const kept = columns.map(({ name, sql }) => `${sql(hour)} as ${name}, `);
  const places = kept.map((_, at) => at + 1).join(", ");
  const told = [...columns.map(({ name }) => name), ...toldNames.map((name) => `cast(${name} as bigint) as ${name}`)];
  const summed = `select ${kept.join("")}${sums} from ${from} ${where.where} group by ${places}`;
  return { sql: `select ${told.join(", ")} from (${summed}) summed`, parameters: where.parameters };
}

/**
 * Takes whole hours from sums, as many as come closest to the span. What these lack or exceed at either end is read
 * from receipts, of half an hour at most.
 */
function partsFrom({ sums, receipts }: Source, question: UsageQuestion): Part[] {
  const { fromMs, toMs } = question;
  const [from, to] = [roundHour(fromMs), roundHour(toMs)];
  if (fromMs !== undefined && toMs !== undefined && toMs - fromMs <= readAway(fromMs) + readAway(toMs)) {
    return [receipts(fromMs, toMs)];
  }
  const edge = (start: number | undefined, end: number | undefined) =>
    start === undefined || end === undefined || start === end
      ? []
      : [start < end ? receipts(start, end) : negated(question, receipts(end, start))];
  return [...edge(fromMs, from && from * hourMs), ...sums({ from, to }), ...edge(to && to * hourMs, toMs)];
}

const roundHour = (ms: number | undefined) => (ms === undefined ? undefined : Math.round(ms / hourMs));
/** How far a time is from the closest whole hour. */
const readAway = (ms: number) => Math.abs(ms - Math.round(ms / hourMs) * hourMs);

/** A part that is subtracted from the other parts. */
function negated(question: UsageQuestion, { sql, parameters }: Part): Part {
  const names = [...keptColumns(question).map(({ name }) => name), ...toldNames.map((name) => `-${name} as ${name}`)];
  return { sql: `select ${names.join(", ")} from (${sql}) beyond`, parameters };
}

/** Sums over all requests. */
const allSource = (dialect: Storage["dialect"], question: UsageQuestion): Source => ({
  sums: (hours) => sumParts(question, hours),
  receipts(fromMs, toMs) {
    const conditions = settledWithin(question, fromMs, toMs);
    return summedPart(question, hourOf[dialect]("settled_at"), "usage", sumsOfReceipts, conditions);
  },
});

/** Sums over requests with a label, or with one value of it. */
const labelSource = (dialect: Storage["dialect"], question: UsageQuestion, { name, value }: AskedLabel): Source => ({
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
