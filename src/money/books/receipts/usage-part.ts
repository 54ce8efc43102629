import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { sumNames } from "../../store/rollups.ts";
import type { Conditions } from "./conditions.ts";

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
export const toldNames = sumNames.filter((name) => name !== "shortfall");

/** The column of a label's value, where one is asked for. Empty: the requests have no such label. */
export const labelColumn = "label";

/** One part of the union. Its columns are those of the groups and the sums, which are 64-bit. */
export interface Part {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** The columns of a part. `label`: the label's value in SQL. */
export function keptColumns({ groups, label: asked }: UsageQuestion, label = "''") {
  const ofLabel = asked === undefined ? [] : [{ name: labelColumn, sql: () => label }];
  return [...ofLabel, ...[...columns].filter(([group]) => groups.has(group)).map(([, column]) => column)];
}

/**
 * A part that is summed up by itself, in the order of an index where there is one, so that the union of all rows is not
 * sorted. PostgreSQL's sums are numeric: one of them in the union would make it convert all rows of the other parts,
 * which takes longer than reading them.
 */
export function summedPart(
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

/** A part that is subtracted from the other parts. */
export function negated(question: UsageQuestion, { sql, parameters }: Part): Part {
  const names = [...keptColumns(question).map(({ name }) => name), ...toldNames.map((name) => `-${name} as ${name}`)];
  return { sql: `select ${names.join(", ")} from (${sql}) beyond`, parameters };
}
