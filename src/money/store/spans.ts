// How sums of hours become sums of longer slots, which usage of many accounts is read from, in SQL that both databases
// take.

import { addSums, sumNames, sumsOfSums } from "./rollups.ts";

/**
 * Lengths of slots in hours, up to 64 days. Up to a day they are further apart, because each of these takes as much
 * room as all longer ones together. A span of any age is cut into few slots, so the rows to read hardly grow with it.
 */
export const spanHours = [1, 6, 24, 48, 96, 192, 384, 768, 1536] as const;

const spanKey = "hours, detail, slot, account_id, key_id, model";
const lengths = spanHours.map((hours) => `select ${hours} as hours`).join(" union all ");

/** Adds the sums of hours of a table to the slots that contain them. Rows are locked in the order of their keys. */
export const addToSpans = (hourly: string): string => `
  insert into usage_span (${spanKey}, ${sumNames.join(", ")})
  select ${spanKey}, ${sumsOfSums}
  from (
    select 'key' as detail, hours, hour / hours as slot, account_id, key_id, model, ${sumNames.join(", ")}
    from ${hourly} cross join (${lengths}) lengths
    union all
    select 'account', hours, hour / hours, account_id, '', '', ${sumNames.join(", ")}
    from ${hourly} cross join (${lengths}) lengths) parts
  where true
  group by ${spanKey} order by ${spanKey}
  on conflict (${spanKey}) do update set ${addSums("usage_span")}`;

const hourKey = (table: string, hour: string) =>
  `(${table}.account_id, ${table}.${hour}, ${table}.key_id, ${table}.model)`;

/** True for sums of an hour whose rollup is in the spans already. The others are added when their spans are built. */
export const isBuilt = (table: string, hour: string, builds = "usage_span_build"): string =>
  `not exists (select 1 from ${builds} last where ${hourKey(table, hour)} > ${hourKey("last", "slot")})`;

/**
 * Rollups of hours after the four parameters, which are the columns of a build, in the order in which spans are built.
 * The condition `span <> 'day'` keeps planners from an index of spans, whose rows they would have to sort.
 */
export const nextRollups = (parameters: readonly string[], most: string): string => {
  const [account, slot, key, model] = parameters;
  return `
    select account_id, slot as hour, key_id, model, ${sumNames.join(", ")} from usage_rollup
    where span <> 'day' and (account_id, span, slot, key_id, model) > (${account}, 'hour', ${slot}, ${key}, ${model})
    order by account_id, span, slot, key_id, model limit ${most}`;
};
