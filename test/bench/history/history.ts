import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { v7 } from "uuid";
import { StreamUsageRequestSchema, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { dayMs } from "#lib/time/days.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { readReceipts } from "#src/money/books/receipts/receipts.ts";
import { streamUsage } from "#src/money/books/receipts/usage.ts";
import { Sealer } from "#src/money/books/seals/sealer.ts";
import { archiveFolder } from "#src/money/retention/folder.ts";
import { Retention } from "#src/money/retention/retention.ts";
import { createLedgerStore } from "#src/money/store/create.ts";
import { makeDays } from "#src/storage/postgresql/days.ts";
import type { PostgresqlStorage } from "#src/storage/storage.ts";
import { noArchives } from "../../money/no-archives.ts";
import { type Databases, openDatabases } from "../ledger/databases.ts";
import type { LedgerMeasurement } from "../ledger/load.ts";
import { percentiles, spread } from "../report/statistics.ts";
import type { Bench, Figure, Scenario } from "../scenario.ts";
import { FilledDays, today } from "./fill-days.ts";
import { complaints, hurried, openServer, startCore } from "./stage.ts";

const keepDays = 7;
const rate = 2000;
const partitions = 200;
const archivedDays = 365;
const questions = 50;

/** Days of receipts that come and leave. */
export const history: Scenario = {
  name: "history",
  shows:
    "days that leave beside 2,000 settlements a second, 200 partitions, 30 days' growth, a year of archives; PostgreSQL",
  onlyNamed: true,
  async run(bench) {
    const databases = await openDatabases("PostgreSQL", bench.directory);
    try {
      const figures: Figure[] = [];
      for (const part of [measurePartitions, measureLeaving, measureGrowth, measureArchives]) {
        figures.push(...(await part(databases, bench)));
      }
      return { figures };
    } finally {
      await databases.stop();
    }
  },
};

type Part = (databases: Databases, bench: Bench) => Promise<Figure[]>;

const figure = (name: string, unit: string, values: readonly number[], limit?: number): Figure => ({
  ...{ scenario: "history", name, unit, better: "lower", value: spread(values) },
  ...(limit !== undefined && { limit }),
});

const cpuOf = ({ mainCpu, otherCpu, databaseCpu, settled }: LedgerMeasurement) =>
  (mainCpu + otherCpu + databaseCpu) / settled;

/** What a settlement costs with the tables of a week, and with those of 200 days. */
const measurePartitions: Part = async (databases, bench) => {
  const [few, many] = [await databases.create("few_days"), await databases.create("many_days")];
  const storage = await openServer(many);
  await makeDays(
    storage.pool,
    Array.from({ length: partitions - 8 }, (_, at) => today() - 1 - at),
  );
  await storage.close();
  const cores = [await startCore(few, databases, bench), await startCore(many, databases, bench)];
  const costs: number[][] = [[], []];
  for (let round = 0; round < bench.options.rounds; round++) {
    for (const [at, core] of cores.entries()) {
      bench.progress(`${at === 0 ? 8 : partitions} partitions, round ${round + 1}`);
      costs[at]?.push(cpuOf(await core.measure({ atOnce: 256 })));
    }
  }
  await Promise.all(cores.map((core) => core.stop()));
  const [usual = [], more = []] = costs;
  return [
    figure("CPU of a settlement, 8 partitions", "µs", usual),
    figure(`CPU of a settlement, ${partitions} partitions`, "µs", more),
    figure(
      "CPU with 200 partitions",
      "× that with 8",
      more.map((cost, at) => cost / (usual[at] ?? Number.NaN)),
      1.1,
    ),
  ];
};

/** Says that a day has its archive, as an archive that was written does. */
async function enterArchive({ pool }: PostgresqlStorage, day: number): Promise<void> {
  await pool.query(
    "insert into receipt_archive (day, receipts, cost_high, cost_low, file, bytes, sha256, at) values ($1, 0, 0, 0, '', 0, '', now())",
    [day],
  );
}

/** A day of a million receipts leaves, beside a load. */
const measureLeaving: Part = async (databases, bench) => {
  const receipts = bench.options.quick ? 20_000 : 1_000_000;
  const url = await databases.create("leaving");
  const storage = await openServer(url);
  const turns = bench.options.rounds;
  const first = today() - keepDays - turns;
  bench.progress(`filling ${turns} days with ${receipts} receipts each`);
  await (await FilledDays.begin(storage)).add({ first, count: turns, receipts });
  await storage.pool.query("vacuum"); // else the server's own would have the days that are to leave, new as they are
  const store = createLedgerStore(storage, systemRandom, v7());
  const core = await startCore(url, databases, bench);
  const [gone, alone, beside]: [number[], number[], number[]] = [[], [], []];
  for (let turn = 0; turn < turns; turn++) {
    bench.progress(`a day leaves, round ${turn + 1}`);
    alone.push((await core.measure({ rate })).acknowledgement.p99);
    const measuring = core.measure({ rate });
    await sleep(500 + bench.options.duration / 4);
    await enterArchive(storage, first + turn);
    const since = performance.now();
    const removed = await store.removeReceipts(100);
    gone.push(performance.now() - since);
    if (removed !== receipts) {
      throw new Error(`${removed} of ${receipts} receipts left`);
    }
    beside.push((await measuring).acknowledgement.p99);
  }
  await core.stop();
  await store.end();
  await storage.close();
  return [
    figure(`a day of ${receipts} receipts is gone`, "ms", gone, 2000),
    figure(`acknowledged at ${rate}/s alone, p99`, "ms", alone),
    figure(`acknowledged at ${rate}/s while a day leaves, p99`, "ms", beside),
    figure(
      "acknowledged while a day leaves, p99",
      "× alone",
      beside.map((p99, at) => p99 / (alone[at] ?? Number.NaN)),
      1.2,
    ),
  ];
};

/** Thirty days pass, each of which brings as many receipts as leave. */
const measureGrowth: Part = async (databases, bench) => {
  const receipts = bench.options.quick ? 2000 : 50_000;
  const storage = await openServer(await databases.create("growth"));
  const store = createLedgerStore(storage, systemRandom, v7());
  const filled = await FilledDays.begin(storage);
  const first = today() - 30;
  const sizes: number[] = [];
  for (let day = first; day < first + 30; day++) {
    await filled.add({ first: day, count: 1, receipts });
    await enterArchive(storage, day - keepDays);
    await store.removeReceipts(100);
    const { rows } = await storage.pool.query<{ size: string }>("select pg_database_size(current_database()) as size");
    sizes.push(Number(rows[0]?.size));
  }
  const { rows } = await storage.pool.query<{ dead: string }>(
    "select coalesce(sum(n_dead_tup), 0) as dead from pg_stat_user_tables where relname ~ '^usage_(line_)?(default|[0-9]{8})$'",
  );
  await store.end();
  await storage.close();
  const [tenth = Number.NaN, last = Number.NaN] = [sizes[9], sizes.at(-1)];
  return [
    figure("database after 30 days", "× after 10", [last / tenth], 1.05),
    figure("dead rows of receipts after 30 days", "rows", [Number(rows[0]?.dead)], 0),
  ];
};

/** Asks the same of books without archives, and of books with a year of them. */
const measureArchives: Part = async (databases, bench) => {
  const receipts = bench.options.quick ? 1000 : 20_000;
  const asked: Readonly<Record<string, number>>[] = [];
  for (const archived of [0, bench.options.quick ? 30 : archivedDays]) {
    bench.progress(`${archived} archived days`);
    const storage = await openServer(await databases.create(`archived_${archived}`));
    const filled = await FilledDays.begin(storage);
    const first = today() - keepDays;
    await filled.add({ first: first - archived, count: archived, receipts: 20 });
    await filled.add({ first, count: keepDays, receipts });
    await filled.sumUp();
    const sealer = new Sealer({ storage, clock: hurried, random: systemRandom, logger: complaints });
    const store = createLedgerStore(storage, systemRandom, v7());
    await new Retention({
      ...{ storage, store, sealer, keepDays, clock: { ...hurried, agrees: true } },
      place: archiveFolder(bench.directory, systemRandom),
      ...{ logger: complaints, note: async () => {}, lease: { hold: async () => true, release: async () => {} } },
      observer: { removed() {}, looked() {} },
    }).work();
    await sealer.sealDue();
    asked.push(await ask(storage, filled.accountId, first));
    await store.end();
    await storage.close();
  }
  const [none = {}, year = {}] = asked;
  return Object.entries(year).flatMap(([name, ms]) => [
    figure(`${name}, no archived day`, "ms", [none[name] ?? Number.NaN]),
    figure(`${name}, a year of archived days`, "ms", [ms]),
    figure(`${name}, a year of archived days`, "× none", [ms / (none[name] ?? Number.NaN)], 1.2),
  ]);
};

/** The medians of what is asked. */
async function ask(storage: PostgresqlStorage, accountId: string, day: number): Promise<Record<string, number>> {
  const from = timestampFromMs(day * dayMs);
  const usage = create(StreamUsageRequestSchema, { accountId, from, groupBy: [UsageGroup.DAY] });
  const kinds: Readonly<Record<string, () => Promise<unknown>>> = {
    "usage of the kept days": async () => {
      for await (const _ of streamUsage(storage, usage)) {
      }
    },
    "a receipt": () => readReceipts(storage, `d${day}r7`, undefined, noArchives),
    reconcile: async () => {
      const { findings } = await reconcile(storage);
      if (findings.length > 0) {
        throw new Error(`the books do not add up: ${findings[0]?.rule}: ${findings[0]?.row} ${findings[0]?.message}`);
      }
    },
  };
  const medians: Record<string, number> = {};
  for (const [name, question] of Object.entries(kinds)) {
    await question(); // plans are made, and pages read
    const times: number[] = [];
    for (let at = 0; at < (name === "reconcile" ? 5 : questions); at++) {
      const since = performance.now();
      await question();
      times.push(performance.now() - since);
    }
    medians[name] = percentiles(times).p50;
  }
  return medians;
}
