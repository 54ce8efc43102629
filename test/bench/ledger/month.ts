import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { configSchema } from "#src/config/schema.ts";
import { createPrices } from "#src/money/prices/prices.ts";
import { allAccounts, hourOf, sumNames, sumsOfReceipts, sumsOfSums } from "#src/money/store/rollups.ts";
import type { Storage } from "#src/storage/storage.ts";
import { fillSpans } from "../usage/spans.ts";
import { createAccounts } from "./accounts.ts";
import { createKeys } from "./payers.ts";

const dayMs = 86_400_000;
const days = 30;
const firstDay = Math.floor(Date.now() / dayMs) - 250;
const testModel = "model";
const tokens = 10;

/**
 * Makes receipts of a month, with a line each, as charges of long ago have them: of one account, every other one in the budget
 * of its key. The books prove with them.
 */
export async function fillMonth(storage: Storage, receipts: number): Promise<void> {
  const em = storage.orm.em.fork();
  const isFile = storage.dialect === "sqlite";
  const { models } = configSchema.parse({ models: [{ id: testModel, servers: [{ url: "http://127.0.0.1:1" }] }] });
  await createPrices({ storage, clock: systemClock, random: systemRandom, models });
  const accounts = await createAccounts(storage, systemRandom, 1);
  const [payer] = await createKeys(storage, systemRandom, accounts);
  const id = (value: string | undefined) => (isFile ? `'${value}'` : `'${value}'::uuid`);
  const [account, key] = [id(payer?.accountId), id(payer?.keyId)];
  const [slice, budgetSlice, core, run] = [id(v7()), id(v7()), id(v7()), id(v7())];
  const lot = `(select id from lot where account_id = ${account})`;
  const rate = (kind: string) => `(select ${kind} from price where model = '${testModel}' order by version_id limit 1)`;
  const cost = `(${tokens} * ${rate("input")} + ${tokens} * ${rate("output")})`;
  const inBudget = Math.floor(receipts / 2);

  await em.execute(`update lot set spent = ${receipts} * ${cost} where account_id = ${account}`);
  await em.execute(`insert into slice (id, lot_id, account_id, core_id, epoch, granted, spent, open)
    select ${slice}, id, account_id, ${core}, 1, spent, spent, false from lot where account_id = ${account}`);
  await em.execute(`insert into budget (id, window_name, account_id, bound, prior, leased, spent)
    values (${key}, 'total', ${account}, 0, 0, 0, ${inBudget} * ${cost})`);
  await em.execute(`insert into budget_slice (id, budget_id, window_name, core_id, epoch, granted, spent, open)
    values (${budgetSlice}, ${key}, 'total', ${core}, 1, ${inBudget} * ${cost}, ${inBudget} * ${cost}, false)`);

  const ms = `${firstDay * dayMs}.0 + n * ${((days * dayMs) / receipts).toFixed(3)}`;
  const settledAt = isFile ? ms : `to_timestamp((${ms}) / 1000.0)`;
  const numbers = `with recursive r(n) as (select 0 union all select n + 1 from r where n < ${receipts - 1})`;
  const keyId = isFile ? key : `'${payer?.keyId}'`;
  await em.execute(`insert into usage (request_id, run_id, account_id, key_id, model, input_tokens, output_tokens, cost,
      shortfall, status, settled_at, budget_slice_id)
    ${numbers} select 'r' || n, ${run}, ${account}, ${keyId}, '${testModel}', ${tokens}, ${tokens}, ${cost}, 0, 'completed',
      ${settledAt}, case when n % 2 = 1 then ${budgetSlice} end from r`);
  await em.execute(`insert into usage_line (request_id, run_id, seq, lot_id, slice_id, input_tokens, output_tokens, input_rate,
      output_rate, cost)
    ${numbers} select 'r' || n, ${run}, 0, ${lot}, ${slice}, ${tokens}, ${tokens}, ${rate("input")}, ${rate("output")}, ${cost}
    from r`);
  await sumUp(storage);
  await em.execute("analyze");
}

/** The sums of usage, as folding leaves them. */
async function sumUp(storage: Storage): Promise<void> {
  const em = storage.orm.em.fork();
  const hour = hourOf[storage.dialect]("settled_at");
  const all = storage.dialect === "sqlite" ? `'${allAccounts}'` : `'${allAccounts}'::uuid`;
  const columns = `usage_rollup (account_id, span, slot, key_id, model, ${sumNames.join(", ")})`;
  await em.execute(`insert into ${columns} select account_id, 'hour', ${hour}, key_id, model, ${sumsOfReceipts}
    from usage group by account_id, ${hour}, key_id, model`);
  await em.execute(`insert into ${columns} select account_id, 'day', slot / 24, key_id, model, ${sumsOfSums}
    from usage_rollup where span = 'hour' group by account_id, slot / 24, key_id, model`);
  await em.execute(`insert into ${columns} select ${all}, span, slot, '', model, ${sumsOfSums}
    from usage_rollup group by span, slot, model`);
  await fillSpans(storage);
}
