// How charges become the sums that usage is read from, in SQL that both databases take.

import { sumColumns } from "#src/storage/reads/exact-sum.ts";

/** Tokens of one request beyond this are not counted in sums, so that no engine's count makes a sum exceed 64 bits. */
export const mostTokens = 2 ** 40;

/** The account id of the sums of all accounts. */
export const allAccounts = "00000000-0000-0000-0000-000000000000";

/** The columns that are summed, in the order of the tables. */
export const sumNames = ["requests", "input_tokens", "output_tokens", "cost_high", "cost_low", "shortfall"] as const;

const capped = (column: string) =>
  `sum(case when ${column} > ${mostTokens} then ${mostTokens} else ${column} end) as ${column}`;

/** The sums over receipts, or over charges with the same columns. */
export const sumsOfReceipts = [
  ...["count(*) as requests", capped("input_tokens"), capped("output_tokens")],
  ...[sumColumns("cost", "cost"), "sum(shortfall) as shortfall"],
].join(", ");

/** The sums over sums. */
export const sumsOfSums = sumNames.map((name) => `sum(${name}) as ${name}`).join(", ");

/** Adds the sums of a row that conflicts to those of the existing row. */
export const addSums = (table: string): string =>
  sumNames.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(", ");

/** The same for a tally, which then has to be looked at again. */
export const addToTally = `${addSums("usage_tally")}, seen = false,
  unbudgeted = usage_tally.unbudgeted or excluded.unbudgeted`;

/**
 * Tallies to fold: before the hour that a parameter names, and looked at. Folding forgets which tallies are still to be
 * counted in budgets.
 */
export const foldable = (hour: string): string => `hour < ${hour} and seen`;

const rollupKey = "account_id, span, slot, key_id, model";

/**
 * Adds the tallies of a table to the rollups: to the sums of their hour and day, of their account and of all accounts.
 * Rows are locked in the order of their keys.
 */
export const foldInto = (tallies: string): string => `
  insert into usage_rollup (${rollupKey}, ${sumNames.join(", ")})
  select ${rollupKey}, ${sumsOfSums}
  from (
    select account_id, 'hour' as span, hour as slot, key_id, model, ${sumNames.join(", ")} from ${tallies}
    union all select account_id, 'day', hour / 24, key_id, model, ${sumNames.join(", ")} from ${tallies}
    union all select '${allAccounts}', 'hour', hour, '', model, ${sumNames.join(", ")} from ${tallies}
    union all select '${allAccounts}', 'day', hour / 24, '', model, ${sumNames.join(", ")} from ${tallies}) parts
  where true
  group by ${rollupKey} order by ${rollupKey}
  on conflict (${rollupKey}) do update set ${addSums("usage_rollup")}`;

/** The hour of a time: of SQLite's milliseconds, which may have fractions, and of PostgreSQL's timestamps. */
export const hourOf = {
  sqlite: (column: string) => `cast(${column} / 3600000 as integer)`,
  postgresql: (column: string) => `floor(extract(epoch from ${column}) / 3600)::int`,
} as const;

/** Milliseconds since the epoch of a time, rounded down. */
export const msOf = {
  sqlite: (column: string) => `cast(${column} as integer)`,
  postgresql: (column: string) => `floor(extract(epoch from ${column}) * 1000)::bigint`,
} as const;

/** A span in whole slots since 1970: its first slot, and the slot after its last. */
interface SlotRange {
  readonly from: string;
  readonly to: string;
}

/**
 * The cost of each row of an account's keys in the sums of a window, which begins and ends with a day. `isOfKeys`
 * compares the column key_id with the keys.
 */
export const chargedWithin = (of: {
  readonly account: string;
  readonly isOfKeys: string;
  readonly days: SlotRange;
  readonly hours: SlotRange;
}): string => `
  select cost_high * 1000000 + cost_low as cost from usage_rollup
  where account_id = ${of.account} and span = 'day' and slot >= ${of.days.from} and slot < ${of.days.to}
    and ${of.isOfKeys}
  union all
  select cost_high * 1000000 + cost_low from usage_tally
  where account_id = ${of.account} and hour >= ${of.hours.from} and hour < ${of.hours.to} and ${of.isOfKeys}`;

/**
 * A budget's key, and the keys that were rotated from it. All are of one account, so only that account's keys are
 * searched.
 */
export const budgetKeys = (id: string, account: string): string =>
  `select id from api_key where account_id = ${account} and (id = ${id} or limits_of = ${id})`;

/** All sums of hours of each account, folded and not yet folded. */
export const hourlySums = `
  select account_id, slot as hour, key_id, model, ${sumNames.join(", ")} from usage_rollup
  where span = 'hour' and account_id <> '${allAccounts}'
  union all select account_id, hour, key_id, model, ${sumNames.join(", ")} from usage_tally`;

/** The value of a receipt's label, which a parameter names. Null: it has no such label. */
export const labelOf = {
  sqlite: "labels ->> ?",
  postgresql: "labels::json ->> ?",
} as const;
