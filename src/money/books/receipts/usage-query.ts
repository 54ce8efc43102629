import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { hourMs } from "#lib/time/days.ts";
import { bySum } from "#src/storage/reads/exact-sum.ts";
import type { Storage } from "#src/storage/storage.ts";
import {
  type AskedLabel,
  keptColumns,
  labelColumn,
  negated,
  type Part,
  toldNames,
  type UsageQuestion,
} from "./usage-part.ts";
import { allSource, labelSource, type Source } from "./usage-sources.ts";

/** The sums of an answer. */
const toldSums = toldNames.map((name) => `sum(${name}) as ${name}`).join(", ");

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
