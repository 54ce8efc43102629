import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { StreamUsageRequestSchema, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { collectGarbage } from "#lib/overload/collect-garbage.ts";
import { streamUsage } from "#src/money/books/receipts/usage.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { openDatabases, type Store, stores } from "../ledger/databases.ts";
import { watchStalls } from "../measure/stalls.ts";
import { percentiles, spread } from "../report/statistics.ts";
import { short } from "../report/table.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { askAsCustomer } from "./customer.ts";
import { accounts, dayMs, fill, lastDayMs } from "./fill.ts";

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
      try {
        const url = await databases.create("usage");
        const storage = await openStorage(url, patience);
        try {
          progress(`filling ${store}`);
          await fill(storage, options.quick ? 50_000 : 1_000_000);
          progress(`asking ${store}`);
          figures.push(...(await measure(storage, store, progress)));
        } finally {
          await storage.close();
        }
        progress(`asking ${store} as a customer`);
        figures.push(...(await askAsCustomer(url, store, questions)));
      } finally {
        await databases.stop();
      }
    }
    return { figures };
  },
};

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
  ...[1, 30, 90].flatMap((days) => [
    {
      name: `the dearest accounts of ${days} days`,
      limit: mostMs,
      of: () => ({ from: within(lastDayMs - days * dayMs, dayMs), groupBy: [ACCOUNT], dearest: 51 }),
    },
    {
      name: `the dearest keys and models of ${days} days`,
      limit: mostMs,
      of: () => ({ from: within(lastDayMs - days * dayMs, dayMs), groupBy: [ACCOUNT, KEY, MODEL], dearest: 51 }),
    },
  ]),
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

async function measure(storage: Storage, store: Store, progress: (line: string) => void): Promise<Figure[]> {
  const figures: Figure[] = [];
  let asking = "";
  collectGarbage(); // a core has done with what its start left behind before anybody asks for so much
  const stalls = watchStalls(() => asking);
  for (const { name, limit, asked = questions, of } of kinds) {
    asking = name;
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
  const { p99, max, longest } = await stalls();
  progress(
    `${store}: the longest turn took ${short(longest.cpu)} ms of CPU in ${short(longest.wall)} ms, ` +
      `${short(longest.collecting)} ms of it collections of garbage, while asking ${longest.during}`,
  );
  const stall = { scenario: "usage", unit: "ms", better: "lower", limit: mostStallMs } as const;
  figures.push(
    { ...stall, name: `${store}: a turn of the event loop, p99`, value: spread([p99]) },
    { ...stall, name: `${store}: a turn of the event loop, longest`, value: spread([max]) },
    {
      ...{
        scenario: "usage",
        name: `${store}: collections of garbage in the longest turn`,
        unit: "ms",
        better: "lower",
      },
      value: spread([longest.collecting]),
    },
  );
  return figures;
}
