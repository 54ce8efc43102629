// How sums of hours become sums of longer slots, which usage of many accounts is read from, in SQL that both databases
// take.

import { addSums, sumNames, sumsOfSums } from "./rollups.ts";

/**
 * Lengths of slots in hours, up to 64 days. Up to a day they are further apart, because each of these takes as much
 * room as all longer ones together. A span of any age is cut into few slots, so the rows to read hardly grow with it.
 */
export const spanHours = [1, 6, 24, 48, 96, 192, 384, 768, 1536] as const;

/** The length of the longest slots in hours: there are six of them a year. */
export const longestSpan = Math.max(...spanHours);

/** What each account was charged in all, in few rows however long ago it began. */
export const accountTotals = `
  select account_id, ${sumNames.join(", ")} from usage_span where hours = ${longestSpan} and detail = 'account'
  union all select account_id, ${sumNames.join(", ")} from usage_tally`;

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
