import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { metering } from "../../contract/clients.ts";
import { type Filter, type GroupName, labelOf, readLabel, type SecondName, toUsageGroups } from "./groups.ts";
import { type Span, toEnds } from "./span.ts";
import { addUp, costOf, partOf, type Sum, secondsAt, toSum } from "./sums.ts";

/** One group's cost over time. */
export interface Line {
  /** The id of the group. Empty: all that no other line has. */
  readonly id: string;
  /** The account of the group. Empty: more than one account. */
  readonly accountId: string;
  /** Costs in pico-USD by the start of their hour or day, in Unix seconds. */
  readonly costs: ReadonlyMap<number, bigint>;
}

/** The usage that is meant. */
export interface Asked {
  readonly filter: Filter;
  readonly span: Span;
}

/** The most lines of the plot beside that of all others. */
const mostLines = 4;

/** Loads the names of the labels that receipts are given. */
export async function loadLabels(signal: AbortSignal): Promise<readonly string[]> {
  return (await metering.listLabels({}, { signal })).labels.map(({ name }) => name);
}

/** Loads the total, which is available long before its parts. */
export async function loadTotal(asked: Asked, signal: AbortSignal): Promise<Sum> {
  return addUp((await ask(asked, ["model"], {}, signal)).map(toSum));
}

/** Loads only the groups with the highest cost, in that order, however many groups there are. */
export async function loadSums(
  asked: Asked,
  groups: readonly (GroupName | SecondName | undefined)[],
  most: number,
  signal: AbortSignal,
): Promise<readonly Sum[]> {
  return (await ask(asked, groups, { dearest: most }, signal)).map(toSum);
}

/** Loads the cost of the first groups over time, and that of all others together. */
export async function loadLines(asked: Asked, group: GroupName, signal: AbortSignal): Promise<readonly Line[]> {
  const { step } = asked.span;
  const [all, sums] = await Promise.all([
    ask(asked, [step], {}, signal).then(toCosts),
    loadSums(asked, [group], mostLines, signal),
  ]);
  const named = sums.filter((sum) => partOf(sum, group) !== "");
  const lines = await Promise.all(
    named.map(async (sum): Promise<Line> => {
      const id = partOf(sum, group);
      const label = labelOf(group);
      const only = label === undefined ? { [group]: id } : { label: `${label}=${id}` };
      const rows = await ask({ ...asked, filter: { ...asked.filter, ...only } }, [step], {}, signal);
      return { id, accountId: sum.accountId, costs: toCosts(rows) };
    }),
  );
  const others = new Map(
    [...all].map(([time, cost]) => [time, lines.reduce((rest, { costs }) => rest - (costs.get(time) ?? 0n), cost)]),
  );
  // What is settled between the questions may make the rest a little more or less than it is.
  const isMore = [...others.values()].some((cost) => cost > 0n) && sums.length === mostLines;
  const hasServiceTokens = named.length < sums.length;
  return isMore || hasServiceTokens ? [...lines, { id: "", accountId: "", costs: others }] : lines;
}

/** Loads every group by the hour or day, for a file. */
export function loadAll(
  asked: Asked,
  groups: readonly (GroupName | SecondName | undefined)[],
  signal: AbortSignal,
): Promise<UsageRow[]> {
  const isOverTime = groups.includes("hour") || groups.includes("day");
  return ask(asked, isOverTime ? groups : [...groups, asked.span.step], {}, signal);
}

async function ask(
  { filter, span }: Asked,
  groups: readonly (GroupName | SecondName | undefined)[],
  options: { readonly dearest?: number },
  signal: AbortSignal,
): Promise<UsageRow[]> {
  const request = {
    groupBy: toUsageGroups(groups),
    accountId: filter.account,
    keyId: filter.key,
    model: filter.model,
    ...toLabel(filter, groups),
    ...toEnds(span),
    ...options,
  };
  const rows: UsageRow[] = [];
  for await (const piece of metering.streamUsage(request, { signal })) {
    rows.push(...piece.rows);
  }
  return rows;
}

/** The label of a grouping or a filter, as the contract has it. */
function toLabel(filter: Filter, groups: readonly (GroupName | SecondName | undefined)[]) {
  const label = readLabel(filter);
  return label === undefined
    ? { labelName: groups.map((name) => name && labelOf(name)).find((name) => name !== undefined) ?? "" }
    : { labelName: label.name, labelValue: label.value };
}

function toCosts(rows: readonly UsageRow[]): ReadonlyMap<number, bigint> {
  return new Map(rows.map((row) => [secondsAt(row.hour || row.day), costOf(row)]));
}
