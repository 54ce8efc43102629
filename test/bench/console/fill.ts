import { Account, toNameKey } from "#src/storage/entities/account.ts";
import { ApiKey } from "#src/storage/entities/api-key.ts";
import { Lot, LotEntry } from "#src/storage/entities/metering/lot.ts";
import { PriceVersion } from "#src/storage/entities/metering/price.ts";
import { Payment } from "#src/storage/entities/payment.ts";
import type { Storage } from "#src/storage/storage.ts";
import { fillSpans } from "../usage/spans.ts";

/** How much a database holds. */
export interface Size {
  readonly accounts: number;
  /** Days of usage: each account has two keys, and uses one model with each in one hour of a day. */
  readonly days: number;
  /** Receipts of the last day. */
  readonly receipts: number;
}

/** Requests of a key in an hour in which it is used: 100 million in all with 10,000 accounts and 90 days. */
const hourly = 56;
const hourMs = 3_600_000;
const dayHours = 24;
const rowsAtOnce = 1000;
const usd = 10 ** 12;

const idOf = (kind: number, number: number) => `00000000-0000-${7000 + kind}-8000-${String(number).padStart(12, "0")}`;

/** The id of one of the accounts, from 1 on. */
export const accountId = (number: number) => idOf(0, number);

/** Makes accounts with their money and keys, the sums of what they used, and receipts. The core has started once before. */
export async function fill(storage: Storage, size: Size, models: readonly string[]): Promise<void> {
  await fillAccounts(storage, size.accounts);
  await fillSums(storage, size, models);
  await storage.orm.em.fork().execute("analyze");
}

async function fillAccounts(storage: Storage, count: number): Promise<void> {
  const em = storage.orm.em.fork();
  const [version] = await em.find(PriceVersion, {}, { orderBy: { id: "desc" }, limit: 1 });
  const at = new Date();
  for (let from = 1; from <= count; from += rowsAtOnce) {
    const numbers = Array.from({ length: Math.min(rowsAtOnce, count - from + 1) }, (_, index) => from + index);
    await em.insertMany(
      Account,
      numbers.map((number) => {
        const name = `Customer ${String(number).padStart(5, "0")}`;
        return {
          ...{ id: accountId(number), name, nameKey: toNameKey(name), maxKeys: 20, createdAt: at, requestId: null },
          ...{ paidTotal: BigInt(number % 50) * BigInt(usd), debt: 0n },
        };
      }),
    );
    const amounts = numbers.map((number) => ({ number, amount: (1 + (number % 50)) * usd }));
    await em.insertMany(
      Payment,
      amounts.map(({ number, amount }) => ({
        ...{ id: idOf(1, number), accountId: accountId(number), kind: "paid" as const, amount, lotId: idOf(2, number) },
        ...{ reference: `invoice-${number}`, at },
      })),
    );
    await em.insertMany(
      Lot,
      amounts.map(({ number, amount }) => ({
        ...{ id: idOf(2, number), accountId: accountId(number), kind: "paid" as const, priority: 50, granted: amount },
        ...{ spent: number, leased: 0, refunded: 0, expired: 0, priceVersionId: version?.id ?? 1, createdAt: at },
        ...{ expiresAt: null, paymentId: idOf(1, number) },
      })),
    );
    await em.insertMany(
      LotEntry,
      amounts.map(({ number, amount }) => ({
        ...{
          id: idOf(3, number),
          lotId: idOf(2, number),
          kind: "grant" as const,
          amount,
          paymentId: idOf(1, number),
          at,
        },
      })),
    );
    // Only the unit of work knows that limits are columns of their own.
    const keys = em.fork();
    for (const key of numbers.flatMap((number) => [2 * number, 2 * number + 1])) {
      keys.create(ApiKey, {
        ...{ id: idOf(4, key), accountId: accountId(Math.floor(key / 2)) },
        ...{ name: key % 2 === 0 ? "production" : "batch", digest: Buffer.from(`key ${key}`), pepperVersion: 1 },
        ...{ prefix: "tg-bench", last4: String(key).slice(-4), createdAt: at },
        limits: { rpm: 600, budgetPicoUsd: 20 * usd, budgetPeriod: "month" },
      });
    }
    await keys.flush();
  }
}

const numbers = (name: string, count: number) =>
  `${name}(n) as (select 0 union all select n + 1 from ${name} where n < ${count - 1})`;

async function fillSums(
  storage: Storage,
  { accounts, days, receipts }: Size,
  models: readonly string[],
): Promise<void> {
  const em = storage.orm.em.fork();
  const isSqlite = storage.dialect === "sqlite";
  const id = (kind: number, number: string) =>
    isSqlite
      ? `'00000000-0000-${7000 + kind}-8000-' || printf('%012d', ${number})`
      : `('00000000-0000-${7000 + kind}-8000-' || lpad((${number})::text, 12, '0'))::uuid`;
  const text = (sql: string) => `cast(${sql} as text)`;
  const nobody = isSqlite ? "'00000000-0000-0000-0000-000000000000'" : "'00000000-0000-0000-0000-000000000000'::uuid";
  const model = (number: string) =>
    `case ${number} ${models.map((name, at) => `when ${at} then '${name}'`).join(" ")} end`;
  const lastHour = Math.floor(Date.now() / hourMs) - 1;
  const columns =
    "account_id, span, slot, key_id, model, requests, input_tokens, output_tokens, cost_high, cost_low, shortfall";
  const lists = `with recursive ${numbers("a", accounts)}, ${numbers("k", 2)}, ${numbers("d", days)}`;
  const [account, key] = [id(0, "a.n + 1"), text(id(4, "(a.n + 1) * 2 + k.n"))];
  const ofModel = model(`(a.n + k.n) % ${models.length}`);
  // An hour of the day of each account and key, counted back from the last one, so that none is to come.
  const hour = `${lastHour} - d.n * ${dayHours} - (a.n * 7 + k.n * 5) % ${dayHours}`;
  const sums = (requests: string) =>
    `${requests}, ${requests} * 900, ${requests} * 300, 13500 + a.n % 97 * 400, a.n, 0`;
  for (const [span, slot] of [
    ["hour", hour],
    ["day", `(${hour}) / ${dayHours}`],
  ]) {
    await em.execute(`insert into usage_rollup (${columns}) ${lists}
      select ${account}, '${span}', ${slot}, ${key}, ${ofModel}, ${sums(String(hourly))} from a, k, d
      where true on conflict do nothing`);
    await em.execute(`insert into usage_rollup (${columns})
      select ${nobody}, span, slot, '', model, sum(requests), sum(input_tokens), sum(output_tokens), sum(cost_high), sum(cost_low), 0
      from usage_rollup where span = '${span}' and account_id <> ${nobody} group by span, slot, model
      on conflict do nothing`);
  }
  await fillSpans(storage);
  const ms = `${Date.now()} - r.n * ${Math.floor((dayHours * hourMs) / receipts)}`;
  const settledAt = isSqlite ? ms : `to_timestamp((${ms}) / 1000.0)`;
  await em.execute(`insert into usage (request_id, run_id, account_id, key_id, model, input_tokens, output_tokens, cost,
      shortfall, status, settled_at)
    with recursive ${numbers("r", receipts)}
    select 'req_' || r.n, ${id(5, "r.n")}, ${id(0, `r.n % ${accounts} + 1`)}, ${text(id(4, `(r.n % ${accounts} + 1) * 2`))},
      ${model(`r.n % ${models.length}`)}, 900, 300, 255000000, 0, 'completed', ${settledAt} from r`);
}
