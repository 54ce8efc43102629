import { allAccounts } from "../../../store/rollups.ts";
import type { Rule } from "./reconcile-rules.ts";

const names = ["receipts", "cost_high", "cost_low"] as const;

/** The sums of one side as the text that a finding shows. */
const told = (side: string) => names.map((name) => `cast(coalesce(${side}_${name}, 0) as text)`).join(" || ' ' || ");

/** The sums of rows of one side of a comparison: those of the other side count as 0. */
const ofSide = (side: string) =>
  names.map((name) => `sum(case when side = '${side}' then ${name} else 0 end) as ${side}_${name}`).join(", ");

const compare = (name: string, id: string, keys: string, expected: string, found: string): Rule => ({
  name,
  table: "day_seal",
  sql: `
    select ${id} as id, ${told("expected")} as expected, ${told("found")} as found
    from (
      select ${keys}, ${ofSide("expected")}, ${ofSide("found")}
      from (select 'expected' as side, expected.* from (${expected}) expected
        union all select 'found' as side, found.* from (${found}) found) parts
      group by ${keys}) sums
    where ${told("expected")} <> ${told("found")}`,
});

/** The rules that seals must keep beside their chain. */
export const sealRules: readonly Rule[] = [
  compare(
    "a seal is the sum of its accounts",
    "cast(number as text)",
    "number",
    `select number, account.receipts, account.cost_high, account.cost_low
     from near_account account join near_seal on near_seal.id = account.seal_id`,
    `select number, ${names.join(", ")} from near_seal`,
  ),
  compare(
    "the usage of an account on a sealed day is that of its seal",
    "cast(day as text) || ' ' || cast(account_id as text)",
    "day, account_id",
    `select day, account_id, ${names.join(", ")}
     from near_account join believed_seal on believed_seal.id = near_account.seal_id`,
    `select slot as day, account_id, requests as receipts, cost_high, cost_low
     from usage_rollup where span = 'day' and account_id <> '${allAccounts}'
       and slot in (select near_seal.day from near_seal join believed_seal on believed_seal.id = near_seal.id)`,
  ),
];
