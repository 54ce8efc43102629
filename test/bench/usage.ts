import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { StreamUsageRequestSchema, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { streamUsage } from "../../src/metering/books/receipts/usage.ts";
import { openStorage, type Storage } from "../../src/storage/orm.ts";
import { openDatabases, type Store, stores } from "./ledger/databases.ts";
import { watchStalls } from "./measure/stalls.ts";
import { percentiles, spread } from "./report/statistics.ts";
import type { Figure, Scenario } from "./scenario.ts";

const accounts = 500;
const days = 90;
const firstDay = 20_700;
const dayMs = 86_400_000;
/** Requests of a key and a model in each of the eight hours of a day in which it is used; 100 million in all. */
const hourly = 46;
/** When the receipts of the last day begin, which spans that begin or end within an hour are read from. */
const lastDayMs = (firstDay + days - 1) * dayMs;
const questions = 200;
const mostMs = 50;
/** The event loop may be kept from its timers for so long, in milliseconds. */
const mostStallMs = 10;
/** To fill a database takes statements that run for minutes. */
const patience = { connectMs: 10_000, answerMs: 600_000 };

/** Usage of 100 million requests: sums of 90 days, and the receipts of the last one. */
export const usage: Scenario = {
  name: "usage",
  shows: "times to answer what 100 million requests used, on both stores",
  onlyNamed: true,
  async run({ directory, options, progress }) {
    const figures: Figure[] = [];
    for (const store of stores) {
      const databases = await openDatabases(store, directory);
      const storage = await openStorage(await databases.create("usage"), patience);
      try {
        progress(`filling ${store}`);
        await fill(storage, options.quick ? 50_000 : 1_000_000);
        progress(`asking ${store}`);
        figures.push(...(await measure(storage, store)));
      } finally {
        await storage.close();
        await databases.stop();
      }
    }
    return { figures };
  },
};

const numbers = (name: string, count: number) =>
  `${name}(n) as (select 0 union all select n + 1 from ${name} where n < ${count - 1})`;

/** Makes the sums of accounts with two keys and three models each, those of all accounts, and receipts. */
async function fill(storage: Storage, receipts: number): Promise<void> {
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
  const ms = `${lastDayMs} + r.n * ${dayMs / receipts}`;
  const settledAt = storage.dialect === "sqlite" ? ms : `to_timestamp((${ms}) / 1000.0)`;
  await em.execute(`insert into usage (request_id, run_id, account_id, key_id, model, input_tokens, output_tokens, cost,
      shortfall, status, settled_at)
    with recursive ${numbers("r", receipts)}
    select 'r' || r.n, ${nobody}, ${idOf(`r.n % ${accounts} + 1`)}, ${keyOf(`r.n % ${accounts} * 2 + 1`)},
      'm' || r.n % 3, 10, 10, 1000, 0, 'completed', ${settledAt} from r`);
  await em.execute("analyze");
}

const someAccount = () =>
  `00000000-0000-7000-8000-${String(1 + Math.floor(Math.random() * accounts)).padStart(12, "0")}`;
const within = (fromMs: number, lengthMs: number) => timestampFromMs(Math.floor(fromMs + Math.random() * lengthMs));
const { ACCOUNT, DAY, HOUR, KEY, MODEL } = UsageGroup;

/** What people ask. Those with a limit must answer within it at the 99th percentile. */
const kinds: readonly {
  readonly name: string;
  readonly limit?: number;
  readonly asked?: number;
  readonly of: () => object;
}[] = [
  { name: "an account by day", limit: mostMs, of: () => ({ accountId: someAccount(), groupBy: [DAY] }) },
  {
    name: "an account by hour and model, 7 days",
    limit: mostMs,
    of: () => ({ accountId: someAccount(), from: timestampFromMs(lastDayMs - 6 * dayMs), groupBy: [HOUR, MODEL] }),
  },
  {
    name: "an account by key, from and to any moment",
    limit: mostMs,
    of: () => ({
      ...{ accountId: someAccount(), from: within(lastDayMs, dayMs / 2), to: within(lastDayMs + dayMs / 2, dayMs / 2) },
      groupBy: [KEY],
    }),
  },
  { name: "all accounts by day and model", limit: mostMs, of: () => ({ groupBy: [DAY, MODEL] }) },
  {
    name: "all accounts by account, key, model and day",
    asked: 3,
    of: () => ({ groupBy: [ACCOUNT, KEY, MODEL, DAY] }),
  },
  {
    name: "all accounts by model, from any moment",
    limit: mostMs,
    of: () => ({ from: within(lastDayMs, dayMs / 2), groupBy: [MODEL] }),
  },
];

async function measure(storage: Storage, store: Store): Promise<Figure[]> {
  const figures: Figure[] = [];
  const stalls = watchStalls();
  for (const { name, limit, asked = questions, of } of kinds) {
    const times: number[] = [];
    for (let at = 0; at < asked; at++) {
      const since = performance.now();
      for await (const _ of streamUsage(storage, create(StreamUsageRequestSchema, of()))) {
      }
      times.push(performance.now() - since);
    }
    const { p50, p99 } = percentiles(times);
    const figure = { scenario: "usage", unit: "ms", better: "lower" } as const;
    figures.push(
      { ...figure, name: `${store}: ${name}, p50`, value: spread([p50]) },
      { ...figure, name: `${store}: ${name}, p99`, value: spread([p99]), ...(limit === undefined ? {} : { limit }) },
    );
  }
  const { p99, max } = stalls();
  const stall = { scenario: "usage", unit: "ms", better: "lower", limit: mostStallMs } as const;
  figures.push(
    { ...stall, name: `${store}: a turn of the event loop, p99`, value: spread([p99]) },
    { ...stall, name: `${store}: a turn of the event loop, longest`, value: spread([max]) },
  );
  return figures;
}
