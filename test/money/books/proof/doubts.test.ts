import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { dayMs } from "#lib/time/days.ts";
import { type ProofOptions, reconcile } from "#src/money/books/proof/reconcile.ts";
import { amongNearSeals } from "#src/money/books/proof/scope.ts";
import { Sealer } from "#src/money/books/seals/sealer.ts";
import { hourOf } from "#src/money/store/rollups.ts";
import { Slice } from "#src/storage/entities/metering/slice.ts";
import type { Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { movableClock } from "../../../storage/movable-clock.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../../support/loggers.ts";
import { type Dialect, databases, dialects } from "../../databases.ts";
import { openMetering, request, run, usd } from "../../fixture.ts";
import { storeKey } from "../../stored-key.ts";

const newDatabase = databases();
const receipts = 30;

/** What a query of a proof read. */
interface Reading {
  readonly sql: string;
  readonly receipts: number;
}

/** A database that tells how many receipts each query of a proof reads. */
function watched(storage: Storage): { storage: Storage; readings: Reading[] } {
  const readings: Reading[] = [];
  const among = storage.dialect === "sqlite" ? amongNearSeals.sqlite : amongNearSeals.postgresql;
  const end = `where seal_id ${among})`;
  const rowsOf = (snapshot: Snapshot): Snapshot["rows"] =>
    async function* (sql, parameters) {
      const [tables = "", query = ""] = sql.split(end);
      if (/\b(receipt|line)\b/.test(query)) {
        const [row] = await snapshot.few(`${tables}${end} select count(*) as receipts from receipt`);
        readings.push({ sql: query, receipts: Number(row?.receipts) });
      }
      yield* snapshot.rows(sql, parameters);
    };
  const snapshot: Storage["snapshot"] = async (reach) => {
    const opened = await storage.snapshot(reach);
    return { ...opened, rows: rowsOf(opened) };
  };
  return { storage: Object.assign(Object.create(storage) as Storage, { snapshot }), readings };
}

/** A day with receipts of several accounts and of the budgets of two keys, some in many parts of the day and one in one. */
async function live(dialect: Dialect) {
  const url = await newDatabase(dialect);
  const noon = Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2;
  if (dialect === "postgresql") {
    await (await movableClock(url))(noon - Date.now());
  }
  const clock = new ManualClock(noon);
  const metering = await openMetering({ clock, url });
  const { storage, store, ledger } = metering;
  const payers: { account: string; more: object }[] = [];
  for (let at = 0; at < 5; at++) {
    const account = await metering.account({ free: 1_000_000_000, paid: usd });
    const keyId = await storeKey(metering, account);
    payers.push({ account, more: at < 2 ? { keyId, budget: { id: keyId, limit: usd, period: "day" } } : {} });
  }
  const charge = async (at: number) => {
    const { account, more } = payers[at === 3 ? 4 : at % 4] as (typeof payers)[number];
    await clock.until(run(ledger, request(account, { inputTokens: 10 + at, outputTokens: 20 }, more)));
    await clock.advanceAsync(20);
  };
  for (let at = 0; at < receipts; at++) {
    await charge(at);
  }
  const prove = async (options: ProofOptions) => {
    const one = watched(storage);
    const { findings } = await reconcile(one.storage, undefined, options);
    const found = findings.map(({ rule, row, message }) => [rule, row, message].join(": ")).sort();
    return { found, readings: one.readings };
  };
  /** Proves in parts of one receipt, and does something before one of the queries that add receipts up. */
  const proveBeside = async (act: () => Promise<void>, place: number) => {
    const one = watched(storage);
    let times = 0;
    const pace = async () => {
      if (one.readings.filter(isPart).length === place && times++ === 0) {
        await act();
      }
    };
    const { findings } = await reconcile(one.storage, undefined, { size: 1, pace });
    expect(times).toBeGreaterThan(0);
    return { findings, readings: one.readings };
  };
  /** A charge with the time of an earlier one, of which it is a copy: that of a place in the order of time. */
  const comeLate = async (place: number) => {
    const [runId, one] = [v7(), `(select run_id from usage order by settled_at limit 1 offset ${place})`];
    const sums = "input_tokens, output_tokens, cost";
    await storage.orm.em.fork().transactional(async (em) => {
      const copy = async (table: string, columns: string) =>
        em.execute(
          `insert into ${table} (run_id, ${columns}) select ?, ${columns} from ${table} where run_id = ${one}`,
          [runId],
        );
      await copy("usage_line", `request_id, seq, lot_id, slice_id, input_rate, output_rate, ${sums}`);
      const rates = "max_input_rate, max_output_rate, budget_slice_id";
      const about = "request_id, account_id, key_id, model, shortfall, status, settled_at";
      await copy("usage", `${about}, ${rates}, ${sums}`);
      for (const [table, paid] of [
        ["slice", "select cost from usage_line where run_id = ? and slice_id = slice.id"],
        ["budget_slice", "select cost from usage where run_id = ? and budget_slice_id = budget_slice.id"],
      ] as const) {
        await em.execute(`update ${table} set spent = spent + (${paid}) where exists (${paid})`, [runId, runId]);
      }
      await em.execute(
        `insert into usage_tally (core_id, hour, account_id, key_id, model, requests, input_tokens, output_tokens, cost_high, cost_low, shortfall, seen, unbudgeted)
         select ?, ${hourOf[dialect]("settled_at")}, account_id, key_id, model, 1, input_tokens, output_tokens, cost / 1000000, cost % 1000000, shortfall, ?, ?
         from usage where run_id = ?`,
        [v7(), false, false, runId],
      );
    });
  };
  const seal = async () => {
    await store.markSeen(await store.unseenTallies(1000));
    while ((await store.foldTallies(Math.floor(clock.now() / 3_600_000) + 1)) > 0) {}
    const sealer = new Sealer({ storage, clock: systemClock, random: systemRandom, logger: silentLogger });
    expect(await sealer.seal(Math.floor(noon / dayMs))).toEqual([]);
  };
  const close = async () => void (await clock.until(metering.close()));
  return { clock, ledger, storage, charge, prove, proveBeside, comeLate, seal, close };
}

/** A query that adds receipts of a part up. */
const isPart = ({ sql }: Reading) => sql.includes("addends_0");
const isOfHours = ({ sql }: Reading) => sql.includes("hour");

describe.each(dialects)("%s", (dialect) => {
  test("no query of a proof in parts reads more than few parts, and all parts are read", async () => {
    const { prove, close } = await live(dialect);
    const { found, readings } = await prove({ size: 1 });
    expect(found).toEqual([]);
    expect(Math.max(...readings.filter(isOfHours).map(({ receipts }) => receipts))).toBeLessThanOrEqual(12);
    expect(Math.max(...readings.filter((one) => !isOfHours(one)).map(({ receipts }) => receipts))).toBeLessThanOrEqual(
      2,
    );
    expect(readings.filter((one) => isPart(one) && !isOfHours(one))).toHaveLength(receipts - 2);
    expect((await prove({ size: 1, all: true })).readings.some(isPart)).toBe(false);
    await close();
  });

  test("finds in parts of any size, however few sums are held, what one query finds", async () => {
    const { storage, close } = await live(dialect);
    const em = storage.orm.em.fork();
    const [of, budgetOf] = ["in (select slice_id from usage_line where", "in (select budget_slice_id from usage where"];
    const tampering = [
      `update slice set spent = spent - 1 where id ${of} input_tokens = 13)`, // of one part
      `update slice set spent = spent - 1 where id ${of} input_tokens = 12)`,
      `update budget_slice set spent = spent + 1 where id ${budgetOf} input_tokens = 11)`,
      "update budget_slice set spent = 0",
      "update usage_tally set requests = requests + 1",
      "update usage_line set cost = cost + 1 where input_tokens = 24",
    ];
    const ways = [{ size: 1 }, { size: 1, most: 1 }, { size: 4 }, { size: 2, most: 2 }];
    const proved = async (options: ProofOptions) =>
      (await reconcile(storage, undefined, options)).findings
        .map((one) => `${one.rule}: ${one.row}: ${one.message}`)
        .sort();
    for (const [at, statement] of tampering.entries()) {
      await em.execute(statement);
      const whole = await proved({ size: 1000 });
      expect(whole.length).toBeGreaterThan(at);
      for (const options of at === tampering.length - 1 ? ways : [ways[at % ways.length] as ProofOptions]) {
        expect({ statement, options, found: await proved(options) }).toEqual({ statement, options, found: whole });
      }
    }
    await close();
  });

  test("more sums than are held are proved in parts all the same, a range after the other", async () => {
    const { prove, close } = await live(dialect);
    const times = async (most: number) => {
      const { found, readings } = await prove({ size: 1, most });
      expect(found).toEqual([]);
      expect(Math.max(...readings.map(({ receipts }) => receipts))).toBeLessThanOrEqual(12);
      return readings.filter((one) => isPart(one) && !isOfHours(one)).length / (receipts - 2);
    };
    expect([await times(5), await times(1)]).toEqual([1, 5]);
    await close();
  });

  test("receipts that settle between parts are in no part, and disturb none", async () => {
    const { prove, charge, close } = await live(dialect);
    let at = receipts;
    const { found, readings } = await prove({ size: 1, pace: () => charge(at++) });
    expect(found).toEqual([]);
    expect(at).toBeGreaterThan(2 * receipts);
    expect(readings.filter((one) => isPart(one) && !isOfHours(one)).length).toBeGreaterThan(receipts - 2);
    await close();
  });

  test("a slice that is closed between parts has spent the same", async () => {
    const { storage, ledger, clock, proveBeside, close } = await live(dialect);
    const open = () => storage.orm.em.fork().count(Slice, { open: true });
    const before = await open();
    const { findings, readings } = await proveBeside(() => clock.until(ledger.close()), 5);
    expect(findings).toEqual([]);
    expect(before).toBeGreaterThan(0);
    expect(await open()).toBe(0);
    expect(Math.max(...readings.map(({ receipts }) => receipts))).toBeLessThanOrEqual(12);
    await close();
  });

  test.each([
    [1, "leave the judgement to one query"],
    [11, "leave the judgement to one query"],
    [25, "change nothing, since their parts were read"],
  ])("receipts that come late, after %i parts, %s", async (parts, how) => {
    const { comeLate, proveBeside, close } = await live(dialect);
    const late = [27, 22, 12, 3];
    const { findings, readings } = await proveBeside(async () => {
      for (const earlier of late) {
        await comeLate(earlier);
      }
    }, parts);
    expect(findings).toEqual([]);
    const isWhole = readings.some(({ receipts: read }) => read === receipts + late.length);
    expect(isWhole).toBe(how.includes("one query"));
    await close();
  });

  test("a wrong slice is found although a receipt comes late beside it", async () => {
    const { storage, comeLate, proveBeside, close } = await live(dialect);
    await storage.orm.em
      .fork()
      .execute("update slice set spent = spent - 1 where id = (select id from slice order by id limit 1)");
    const { findings } = await proveBeside(() => comeLate(3), 20);
    expect(findings.map(({ rule }) => rule)).toContain("a slice has spent what its receipt lines say");
    await close();
  });

  test("nothing is found when the day is sealed between two parts", async () => {
    const { seal, proveBeside, close } = await live(dialect);
    const { findings, readings } = await proveBeside(seal, 5);
    expect(findings).toEqual([]);
    expect(readings.filter(isPart).length).toBeGreaterThan(5);
    await close();
  });
});
