import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import { type Clock, systemClock } from "#lib/time/clock.ts";
import { dayMs } from "#lib/time/days.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { sealDay } from "#src/money/books/seals/seal-day.ts";
import { Sealer } from "#src/money/books/seals/sealer.ts";
import { DaySeal, SealedAccount, SealedSlice } from "#src/storage/entities/metering/seal.ts";
import { movableClock } from "../../../storage/movable-clock.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../../databases.ts";
import { openMetering, request, run, usd } from "../../fixture.ts";

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  /** Two days with receipts of two accounts, and the first receipts of the third. */
  async function live() {
    const url = await newDatabase(dialect);
    const midnight = Math.ceil(Date.now() / dayMs) * dayMs;
    const turn = dialect === "postgresql" ? await movableClock(url) : async () => {};
    const accounts: string[] = [];
    const coreId = v7();
    const openAt = async (at: number, times: number) => {
      await turn(at - Date.now());
      const clock = new ManualClock(at);
      const metering = await openMetering({ clock, url, coreId });
      if (accounts.length === 0) {
        accounts.push(
          await metering.account({ paid: 5 * usd }),
          await metering.account({ free: 2_000_000, paid: usd }),
        );
      }
      for (const account of accounts) {
        for (let done = 0; done < times; done++) {
          await clock.until(run(metering.ledger, request(account, { inputTokens: 10, outputTokens: 20 + done })));
        }
      }
      return { clock, metering };
    };
    for (const [days, times] of [
      [2, 3],
      [1, 2],
    ] as const) {
      const { clock, metering } = await openAt(midnight - days * dayMs + 1000, times);
      await clock.until(metering.close());
    }
    const { clock, metering } = await openAt(midnight + 7_200_000, 1);
    const { storage, store } = metering;
    const fold = async () => {
      await store.markSeen(await store.unseenTallies(1000));
      while ((await store.foldTallies(Math.floor(clock.now() / 3_600_000) + 1)) > 0) {}
    };
    await fold();
    const log: string[] = [];
    const note = (_: object, message: string) => void log.push(message);
    const logger: Logger = { debug() {}, info: note, warn: note, error: note };
    let now = clock.now();
    const time: Clock = { ...systemClock, now: () => now, monotonic: () => performance.now() };
    const sealer = new Sealer({ storage, clock: time, random: systemRandom, logger });
    const seals = () => storage.orm.em.fork().find(DaySeal, {}, { orderBy: { number: "asc" } });
    const day = Math.floor(clock.now() / dayMs);
    const rules = async (all = false) =>
      (await reconcile(storage, undefined, { all })).findings.map(({ rule }) => rule);
    const setTime = (at: number) => {
      now = at;
    };
    return { ...metering, clock, accounts, fold, log, sealer, seals, day, rules, setTime };
  }

  /** A charge of a day, whose receipt was stored long afterwards: a copy of another one of that day. */
  async function comeLate({ storage }: Pick<Awaited<ReturnType<typeof live>>, "storage">, day: number) {
    const em = storage.orm.em.fork();
    const at = dialect === "postgresql" ? "extract(epoch from settled_at) * 1000" : "settled_at";
    const [one] = await em.execute<{ request_id: string; run_id: string }[]>(
      `select request_id, run_id from usage where ${at} >= ? and ${at} < ? limit 1`,
      [day * dayMs, (day + 1) * dayMs],
    );
    const runId = v7();
    const columns = ["account_id, key_id, model, input_tokens, output_tokens, cost, shortfall, status, settled_at"];
    const rates = "max_input_rate, max_output_rate";
    await em.execute(
      `insert into usage (request_id, run_id, ${columns}, ${rates}) select request_id, ?, ${columns}, ${rates} from usage where run_id = ?`,
      [runId, one?.run_id],
    );
    await em.execute(
      `insert into usage_line (request_id, run_id, seq, lot_id, slice_id, input_tokens, output_tokens, input_rate, output_rate, cost)
       select request_id, ?, seq, lot_id, slice_id, input_tokens, output_tokens, input_rate, output_rate, cost
       from usage_line where run_id = ?`,
      [runId, one?.run_id],
    );
    await em.execute(
      `update slice set spent = spent + (select cost from usage_line where run_id = ? and slice_id = slice.id)
       where id in (select slice_id from usage_line where run_id = ?)`,
      [runId, runId],
    );
    const hour =
      dialect === "postgresql"
        ? "floor(extract(epoch from settled_at) / 3600)::int"
        : "cast(settled_at / 3600000 as integer)";
    await em.execute(
      `insert into usage_tally (core_id, hour, account_id, key_id, model, requests, input_tokens, output_tokens, cost_high, cost_low, shortfall, seen, unbudgeted)
       select ?, ${hour}, account_id, key_id, model, 1, input_tokens, output_tokens, cost / 1000000, cost % 1000000, shortfall, ?, ?
       from usage where run_id = ?`,
      [v7(), false, false, runId],
    );
    return runId;
  }

  test("days that are over are sealed once, in a chain; the proof believes them and reads the others", async () => {
    const world = await live();
    const { sealer, seals, day, rules, storage, accounts, log, clock, close } = world;
    expect(await rules()).toEqual([]);
    await sealer.sealDue();
    await sealer.sealDue();
    const made = await seals();
    expect(made).toMatchObject([
      { number: 1, day: day - 2, receipts: 6 },
      { number: 2, day: day - 1, receipts: 4 },
    ]);
    expect(log).toEqual(["a day was sealed", "a day was sealed"]);
    const sealed = await storage.orm.em.fork().find(SealedAccount, { sealId: String(made[0]?.id) });
    expect(sealed.map(({ accountId, receipts }) => [accountId, receipts])).toEqual(
      accounts.toSorted().map((account) => [account, 3]),
    );
    expect(await rules()).toEqual([]);
    expect(await rules(true)).toEqual([]);
    // A receipt of a sealed day is not read again, unless all are.
    const em = storage.orm.em.fork();
    const first = "(select min(settled_at) from usage)";
    await em.execute(`update usage set model = 'other' where settled_at = ${first}`);
    expect(await rules()).toEqual([]);
    expect(await rules(true)).toContain("the receipts of a sealed day are those of its seal");
    await em.execute(`update usage set model = 'plain' where settled_at = ${first}`);
    expect(await rules(true)).toEqual([]);
    await clock.until(close());
  });

  test("a day is sealed an hour after its midnight", async () => {
    const { sealer, seals, day, setTime, clock, close } = await live();
    setTime(day * dayMs + 3_599_000);
    await sealer.sealDue();
    expect((await seals()).map((seal) => seal.day)).toEqual([day - 2]);
    setTime(day * dayMs + 3_601_000);
    await sealer.sealDue();
    expect((await seals()).map((seal) => seal.day)).toEqual([day - 2, day - 1]);
    await clock.until(close());
  });

  if (dialect === "postgresql") {
    test("a seal whose sums a failover into the past has lost meanwhile is not made, and made anew afterwards", async () => {
      const { sealer, seals, day, rules, storage, clock, close } = await live();
      let lost = false;
      const lose = async () => {
        if (!lost && (await storage.orm.em.fork().count(SealedSlice)) > 0) {
          await storage.orm.em.fork().nativeDelete(SealedAccount, {});
          lost = true;
        }
      };
      await expect(sealDay({ storage, clock, random: systemRandom, pace: lose }, day - 2)).rejects.toThrow("has lost");
      expect(await seals()).toEqual([]);
      await sealer.sealDue();
      expect(await seals()).toMatchObject([{ day: day - 2 }, { day: day - 1 }]);
      expect(await rules(true)).toEqual([]);
      await clock.until(close());
    });
  }

  test("a charge that comes late for a sealed day is proved at once, and the day is sealed anew once it is counted", async () => {
    const world = await live();
    const { sealer, seals, day, rules, fold, log, clock, close } = world;
    await sealer.sealDue();
    await comeLate(world, day - 2);
    expect(await rules()).not.toContain("a slice has spent what its receipt lines say");
    await sealer.sealDue();
    expect(await seals()).toHaveLength(2);
    await fold();
    expect(await rules()).not.toContain("the usage of an hour is that of its receipts");
    await sealer.sealDue();
    expect((await seals()).map((seal) => [seal.number, seal.day, seal.receipts])).toEqual([
      [1, day - 2, 6],
      [2, day - 1, 4],
      [3, day - 2, 7],
    ]);
    expect(log.at(-1)).toBe("a day was sealed anew: charges came late");
    await sealer.sealDue();
    expect(await seals()).toHaveLength(3);
    await clock.until(close());
  });

  test("a seal that lies is found, each way that it may", async () => {
    const { sealer, rules, storage, clock, close } = await live();
    await sealer.sealDue();
    const em = storage.orm.em.fork();
    const lies: readonly [rule: string, lie: string, truth: string, all?: boolean][] = [
      ["next one of its chain", "update day_seal set cost_low = cost_low + 1 where number = 1", "- 1"],
      ["next one of its chain", "update day_seal set receipts = receipts + 1 where number = 2", "- 1"],
      ["a day has all receipts", "update day_seal set receipts = receipts + 1 where number = 2", "- 1"],
      ["sum of its accounts", "update sealed_account set receipts = receipts + 1", "- 1"],
      ["on a sealed day is that of its seal", "update sealed_account set cost_low = cost_low + 1", "- 1"],
      ["a slice has spent", "update sealed_slice set cost = cost + 1", "- 1"],
      ["of a sealed day are those", "update sealed_account set digest = digest || '0'", "substr", true],
    ];
    for (const [rule, lie, truth, all] of lies) {
      await em.execute(lie);
      expect((await rules(all)).join("\n")).toContain(rule);
      await em.execute(
        truth === "substr" ? "update sealed_account set digest = substr(digest, 1, 64)" : lie.replace("+ 1", truth),
      );
      expect(await rules(true)).toEqual([]);
    }
    await clock.until(close());
  });

  test("a day whose receipts do not add up is not sealed, and the proof names them", async () => {
    const { sealer, seals, day, rules, storage, log, clock, close } = await live();
    const em = storage.orm.em.fork();
    const first = "(select min(settled_at) from usage)";
    await em.execute(`update usage set cost = cost + 1 where settled_at = ${first}`);
    await sealer.sealDue();
    expect((await seals()).map((seal) => seal.day)).toEqual([day - 1]);
    expect(log[0]).toBe("a day is not sealed, because its receipts do not add up");
    expect(await rules()).toContain("a receipt costs what its lines say and what is owed");
    await em.execute(`update usage set cost = cost - 1 where settled_at = ${first}`);
    await sealer.sealDue();
    expect((await seals()).map((seal) => seal.day)).toEqual([day - 1, day - 2]);
    expect(await rules(true)).toEqual([]);
    await clock.until(close());
  });

  test("sums of usage are proved until their day is sealed, which waits for them; then only with all", async () => {
    const { sealer, seals, day, rules, storage, clock, close } = await live();
    const em = storage.orm.em.fork();
    const hours = `slot >= ${(day - 2) * 24} and slot < ${(day - 1) * 24}`;
    const lies: readonly [rule: string, table: string, where: string][] = [
      ["the usage of a day is that of its hours", "usage_rollup", `span = 'day' and slot = ${day - 2}`],
      ["the usage of all accounts is that of each", "usage_rollup", `span = 'hour' and key_id = '' and ${hours}`],
      ["the usage of a span of 1 h", "usage_span", `hours = 1 and detail = 'key' and ${hours}`],
      [
        "the usage of an account in a span of 24 h",
        "usage_span",
        `hours = 24 and detail = 'account' and slot = ${day - 2}`,
      ],
      ["the usage of a span of 1536 h", "usage_span", `hours = 768 and slot = ${Math.floor((day - 2) / 32)}`],
    ];
    const lie = (table: string, where: string, by: number) =>
      em.execute(`update ${table} set input_tokens = input_tokens + ${by} where ${where}`);
    for (const [rule, table, where] of lies) {
      await lie(table, where, 1);
      expect((await rules()).join("\n")).toContain(rule);
      await sealer.sealDue();
      expect((await seals()).map((seal) => seal.day)).toEqual([day - 1]);
      await lie(table, where, -1);
    }
    await sealer.sealDue();
    expect((await seals()).map((seal) => seal.day)).toEqual([day - 1, day - 2]);
    for (const [rule, table, where] of lies.slice(0, 4)) {
      await lie(table, where, 1);
      expect(await rules()).toEqual([]);
      expect((await rules(true)).join("\n")).toContain(rule);
      await lie(table, where, -1);
    }
    await clock.until(close());
  });
});
