import type { Storage } from "#src/storage/storage.ts";
import { fillSpans } from "./spans.ts";

/** How many accounts there are, with two keys and three models each. */
export const accounts = 500;
export const days = 90;
export const firstDay = 20_700;
export const dayMs = 86_400_000;
/** When the receipts of the last day begin, which spans that begin or end within an hour are read from. */
export const lastDayMs = (firstDay + days - 1) * dayMs;
/** Requests of a key and a model in each of the eight hours of a day in which it is used; 100 million in all. */
const hourly = 46;

const numbers = (name: string, count: number) =>
  `${name}(n) as (select 0 union all select n + 1 from ${name} where n < ${count - 1})`;

/** Makes the sums of accounts with two keys and three models each, those of all accounts, and receipts. */
export async function fill(storage: Storage, receipts: number): Promise<void> {
  const em = storage.orm.em.fork();
  const idOf = (number: string) =>
    storage.dialect === "sqlite"
      ? `'00000000-0000-7000-8000-' || printf('%012d', ${number})`
      : `('00000000-0000-7000-8000-' || lpad((${number})::text, 12, '0'))::uuid`;
  const keyOf = (number: string) => `cast(${idOf(number)} as text)`;
  const nobody =
    storage.dialect === "sqlite"
      ? idOf("0").replace("-7000-8000-", "-0000-0000-")
      : `'00000000-0000-0000-0000-000000000000'::uuid`;
  const columns = `account_id, span, slot, key_id, model, requests, input_tokens, output_tokens, cost_high, cost_low, shortfall`;
  const lists = `with recursive ${numbers("a", accounts)}, ${numbers("k", 2)}, ${numbers("m", 3)}, ${numbers("d", days)}, ${numbers("h", 8)}`;
  const sums = (requests: number) => `'m' || m.n, ${requests}, 1000, 1000, 1000, 10, 0`;
  const day = `${firstDay} + d.n`;
  const hour = `(${day}) * 24 + 8 + h.n`;
  const [account, key] = [idOf("a.n + 1"), keyOf("a.n * 2 + k.n + 1")];
  await em.execute(`insert into usage_rollup (${columns}) ${lists}
    select ${account}, 'day', ${day}, ${key}, ${sums(hourly * 8)} from a, k, m, d`);
  await em.execute(`insert into usage_rollup (${columns}) ${lists}
    select ${account}, 'hour', ${hour}, ${key}, ${sums(hourly)} from a, k, m, d, h`);
  await em.execute(`insert into usage_rollup (${columns}) ${lists}
    select ${nobody}, 'day', ${day}, '', ${sums(hourly * 8 * accounts * 2)} from m, d`);
  await em.execute(`insert into usage_rollup (${columns}) ${lists}
    select ${nobody}, 'hour', ${hour}, '', ${sums(hourly * accounts * 2)} from m, d, h`);
  await fillSpans(storage);
  const ms = `${lastDayMs} + r.n * ${dayMs / receipts}`;
  const settledAt = storage.dialect === "sqlite" ? ms : `to_timestamp((${ms}) / 1000.0)`;
  await em.execute(`insert into usage (request_id, run_id, account_id, key_id, model, input_tokens, output_tokens, cost,
      shortfall, status, settled_at)
    with recursive ${numbers("r", receipts)}
    select 'r' || r.n, ${nobody}, ${idOf(`r.n % ${accounts} + 1`)}, ${keyOf(`r.n % ${accounts} * 2 + 1`)},
      'm' || r.n % 3, 10, 10, 1000, 0, 'completed', ${settledAt} from r`);
  await em.execute("analyze");
}
