import { allAccounts, hourOf, sumNames, sumsOfReceipts } from "../../../store/rollups.ts";
import { spanHours } from "../../../store/spans.ts";
import type { SlotCondition } from "../scope.ts";
import type { Rule } from "./reconcile-rules.ts";

const sides = ["expected", "found"] as const;

/** Columns as the text that a finding shows. */
const inWords = (columns: readonly string[]) => columns.map((name) => `cast(${name} as text)`).join(" || ' ' || ");

/** The sums of one side, likewise. */
const told = (side: string) => inWords(sumNames.map((name) => `${side}_${name}`));

/** The sums of one side: rows of the other side count as 0. */
const ofSide = (side: string) =>
  sumNames.map((name) => `sum(case when side = '${side}' then ${name} else 0 end) as ${side}_${name}`);

/**
 * Two queries must have the same sums for each key. A finding names the key. The queries are grouped together, not
 * joined: SQLite compares every row with every other one in a full join.
 */
const same = (
  rule: Pick<Rule, "name" | "only" | "ofDay" | "addends"> & { readonly table?: string },
  keys: readonly string[],
  expected: (isInScope: SlotCondition) => string,
  found: (isInScope: SlotCondition) => string,
): Rule => {
  const key = keys.join(", ");
  const rows = (side: string, query: string) =>
    `select '${side}' as side, ${key}, ${sumNames.join(", ")} from (${query}) ${side}`;
  return {
    table: "usage_rollup",
    ofDay: "sums",
    ...rule,
    sql: (isInScope) => `
      select ${inWords(keys)} as id,
        ${told("expected")} as expected, ${told("found")} as found
      from (
        select ${key}, ${sides.flatMap(ofSide).join(", ")}
        from (${rows("expected", expected(isInScope))} union all ${rows("found", found(isInScope))}) parts group by ${key}) sums
      where ${told("expected")} <> ${told("found")}`,
  };
};

const hourRollups = (accounts: "=" | "<>") => (isInScope: SlotCondition) =>
  `
  select account_id, slot, key_id, model, ${sumNames.join(", ")} from usage_rollup
  where span = 'hour' and account_id ${accounts} '${allAccounts}' and (${isInScope("slot", 1)})`;

const receipts = (dialect: "sqlite" | "postgresql"): string => {
  const hour = hourOf[dialect]("settled_at");
  return `select account_id, ${hour} as hour, key_id, model, ${sumsOfReceipts} from receipt
    group by account_id, ${hour}, key_id, model`;
};

/** The sums of an archive as the text that a finding shows. */
const toldArchive = (table: string) =>
  ["receipts", "cost_high", "cost_low"].map((name) => `cast(coalesce(${table}${name}, 0) as text)`).join(" || ' ' || ");

const hourKeys = ["account_id", "hour", "key_id", "model"];

/** Spans of so many hours that are in scope as parts of `longer` ones. */
const spans =
  (detail: string, hours: number, longer = hours) =>
  (isInScope: SlotCondition) =>
    `
  select account_id, slot, key_id, model, ${sumNames.join(", ")} from usage_span
  where detail = '${detail}' and hours = ${hours} and (${isInScope("slot", longer, hours)})`;

const keySpan = ["account_id", "slot", "key_id", "model"];

/**
 * Spans of an hour equal the rollups, longer spans the sums of the next shorter ones, and spans of accounts the sums of
 * their keys.
 */
const spanRules: readonly Rule[] = spanHours.flatMap((hours, at) => {
  const shorter = spanHours[at - 1];
  const name = `${hours} h`;
  return [
    same(
      { name: `the usage of a span of ${name} is that of its hours`, table: "usage_span" },
      keySpan,
      shorter === undefined
        ? hourRollups("<>")
        : (isInScope) => `select account_id, slot * ${shorter} / ${hours} as slot, key_id, model, ${sumNames.join(", ")}
           from (${spans("key", shorter, hours)(isInScope)}) shorter`,
      spans("key", hours),
    ),
    same(
      { name: `the usage of an account in a span of ${name} is that of its keys`, table: "usage_span" },
      ["account_id", "slot"],
      spans("key", hours),
      spans("account", hours),
    ),
  ];
});

/** The rules that sums of usage must keep: requests, tokens and cost, hour by hour. */
export const rollupRules: readonly Rule[] = [
  ...(["sqlite", "postgresql"] as const).map((only) =>
    same(
      {
        ...{ name: "the usage of an hour is that of its receipts", only, ofDay: "hours" },
        addends: `select ${inWords(hourKeys)} as id, ${inWords(sumNames)} as amounts from (${receipts(only)}) hours`,
      },
      hourKeys,
      () => receipts(only),
      () => "select * from counted_hour",
    ),
  ),
  {
    name: "the archive of a day has as many receipts, of the same cost, as were counted on that day",
    table: "receipt_archive",
    sql: `
      select cast(day as text) as id, ${toldArchive("usage.")} as expected, ${toldArchive("archive.")} as found
      from receipt_archive archive left join (
        select slot, sum(requests) as receipts, sum(cost_high) as cost_high, sum(cost_low) as cost_low from usage_rollup
        where account_id = '${allAccounts}' and span = 'day' group by slot) usage on usage.slot = archive.day
      where ${toldArchive("usage.")} <> ${toldArchive("archive.")}`,
  },
  same(
    { name: "the usage of a day is that of its hours" },
    ["account_id", "slot", "key_id", "model"],
    (isInScope) => `
      select account_id, slot / 24 as slot, key_id, model, ${sumNames.join(", ")} from usage_rollup
      where span = 'hour' and (${isInScope("slot", 24, 1)})`,
    (isInScope) => `
      select account_id, slot, key_id, model, ${sumNames.join(", ")} from usage_rollup
      where span = 'day' and (${isInScope("slot", 24)})`,
  ),
  same(
    { name: "the usage of all accounts is that of each of them" },
    ["slot", "model"],
    hourRollups("<>"),
    hourRollups("="),
  ),
  ...spanRules,
];
