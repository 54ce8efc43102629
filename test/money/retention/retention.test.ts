import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { toJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { NIL, v7 } from "uuid";
import { ReceiptSchema } from "#gen/tollgate/metering/v1/usage_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { dayMs, dayName } from "#lib/time/days.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { readReceipts } from "#src/money/books/receipts/receipts.ts";
import { archiveFolder } from "#src/money/retention/folder.ts";
import type { Dependencies } from "#src/money/retention/retention.ts";
import { removeReceiptsSql } from "#src/money/store/postgresql/receipts.ts";
import { removalStatements } from "#src/money/store/sqlite/receipts.ts";
import { ReceiptArchive } from "#src/storage/entities/metering/archive.ts";
import { UsageTally } from "#src/storage/entities/metering/rollup.ts";
import { Usage, UsageLine } from "#src/storage/entities/metering/usage.ts";
import { WorkLease } from "#src/storage/work-lease.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { explainSqlite } from "../../support/plans.ts";
import { dialects } from "../databases.ts";
import { request, run } from "../fixture.ts";
import { noArchives } from "../no-archives.ts";
import { prove, settledDays, usageOf } from "./settled-days.ts";

const live = settledDays();
/** Milliseconds between two renewals of a lease. */
const renewMs = 5000;

describe.each(dialects)("%s", (dialect) => {
  test("a day that is due is archived to the last receipt, then removed; books, sums and budgets say the same", async () => {
    const { storage, store, ledger, ids, budget, clock, midnight, directory, removed, looks, noted, retention, close } =
      await live(dialect);
    const before = await usageOf(storage);
    const spent = (await ledger.budgetState(budget)).spent;
    const receipts = (
      await Promise.all(ids.slice(0, 7).map((id) => readReceipts(storage, id, undefined, noArchives)))
    ).flat();
    await prove(storage);
    // The smallest steps: the books are proved after each of them.
    const removeReceipts = async () => {
      const count = await store.removeReceipts(2);
      await prove(storage);
      return count;
    };
    await retention({ store: { removeReceipts } }).work();
    expect(removed).toEqual([2, 2, 2, 1, 0]);
    expect(looks).toEqual([
      [0, dayMs],
      [midnight, 0],
    ]);

    const day = midnight / dayMs - 1;
    const name = `receipts-${dayName(day)}.jsonl.gz`;
    expect(readdirSync(directory)).toEqual([name]);
    const file = readFileSync(join(directory, name));
    const lines = gunzipSync(file).toString().trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      receipts.map((receipt) => toJson(ReceiptSchema, receipt)).toReversed(),
    );
    const sha256 = createHash("sha256").update(file).digest("hex");
    const archive = { day, receipts: 7, file: name, bytes: file.length, sha256 };
    expect(await storage.orm.em.fork().findAll(ReceiptArchive)).toMatchObject([archive]);
    expect(noted).toMatchObject([archive]);

    expect(await storage.orm.em.fork().count(Usage)).toBe(3);
    expect(await storage.orm.em.fork().count(UsageLine)).toBe(3);
    expect(await usageOf(storage)).toEqual(before);
    expect((await ledger.budgetState(budget)).spent).toBe(spent);
    await clock.until(
      run(
        ledger,
        request(
          noted.length > 0 ? (receipts[0]?.accountId ?? "") : "",
          { inputTokens: 10, outputTokens: 5 },
          { budget },
        ),
      ),
    );
    await prove(storage);
    await clock.until(close());
    expect(removed).toHaveLength(5);
  }, 240_000);

  test("work that ends anywhere is taken up where it was; a disk that fails loses nothing", async () => {
    const { storage, store, clock, settledOn, directory, removed, retention, close } = await live(dialect);
    const file = join(directory, "a file");
    writeFileSync(file, "");
    await expect(retention({ place: archiveFolder(file, systemRandom) }).work()).rejects.toThrow();
    // What a process that was killed in the middle of a file has left; the second is of another day, and not this one's.
    const name = `receipts-${new Date(settledOn).toISOString().slice(0, 10)}.jsonl.gz`;
    const others = "receipts-2000-01-01.jsonl.gz.part";
    for (const part of [`${name}.${v7()}.part`, others]) {
      writeFileSync(join(directory, part), "");
    }
    expect(await storage.orm.em.fork().count(Usage)).toBe(10);
    expect(await storage.orm.em.fork().count(ReceiptArchive)).toBe(0);

    const lostStore = { removeReceipts: () => Promise.reject(new Error("killed")) };
    await expect(retention({ store: lostStore }).work()).rejects.toThrow("killed");
    expect(await storage.orm.em.fork().count(Usage)).toBe(10);
    await prove(storage);

    const loseReply = async () => {
      await store.removeReceipts(3);
      throw new Error("the reply is lost");
    };
    await expect(retention({ store: { removeReceipts: loseReply } }).work()).rejects.toThrow("the reply is lost");
    await prove(storage);
    await retention().work();
    expect(removed).toEqual([4, 0]);
    expect(await storage.orm.em.fork().count(Usage)).toBe(3);
    expect(readdirSync(directory).toSorted()).toEqual(["a file", others, name].toSorted());
    await prove(storage);
    await clock.until(close());
  }, 60_000);

  test("archiving leaves others their time, and less of it the longer a further day is due", async () => {
    const { clock, midnight, retention, close } = await live(dialect);
    /** Each try to archive the day ends before its file is complete. */
    const endless = async () => ({
      write: async () => {},
      finish: () => Promise.reject(new Error("enough")),
      abandon: async () => {},
    });
    const restOf = async (daysLate: number) => {
      const rests: number[] = [];
      let ticks = 0;
      const ticking = {
        ...{ ...systemClock, agrees: true },
        now: () => midnight + daysLate * dayMs + 3_600_000,
        monotonic: () => ticks++,
        after: (ms: number, act: () => void) => {
          if (ms === renewMs) {
            return systemClock.after(ms, act);
          }
          rests.push(ms);
          return systemClock.after(0, act);
        },
      };
      const place = { ...archiveFolder("nowhere", systemRandom), create: endless };
      await expect(retention({ clock: ticking, place }).work()).rejects.toThrow("enough");
      return rests.at(-1);
    };
    expect([await restOf(0), await restOf(1), await restOf(2), await restOf(100)]).toEqual([9, 3, 2, 2]); // at least 2 ms
    await clock.until(close());
  }, 60_000);

  test("no day leaves while the clocks disagree, and it leaves once they agree", async () => {
    const { storage, midnight, clock, noted, retention, close } = await live(dialect);
    const judged = { ...systemClock, now: () => midnight + 3_600_000, monotonic: () => 0, agrees: false };
    await retention({ clock: judged }).work();
    expect([noted, await storage.orm.em.fork().count(Usage)]).toEqual([[], 10]);
    judged.agrees = true;
    await retention({ clock: judged }).work();
    expect([noted.length, await storage.orm.em.fork().count(Usage)]).toEqual([1, 3]);
    await clock.until(close());
  }, 60_000);

  test("while what was archived cannot be removed, the day after it is told to be late", async () => {
    const { storage, midnight, clock, looks, retention, close } = await live(dialect);
    const time = { ...systemClock, now: () => midnight + 3_600_000, monotonic: () => 0, agrees: true };
    const store = { removeReceipts: () => Promise.reject(new Error("something keeps the table")) };
    for (const daysLate of [0, 2, 3]) {
      const later = { ...time, now: () => midnight + daysLate * dayMs + 3_600_000 };
      await expect(retention({ store, clock: later }).work()).rejects.toThrow("something keeps the table");
      expect(looks.at(-1)).toEqual([midnight, daysLate * dayMs]);
    }
    await prove(storage);
    await clock.until(close());
  }, 60_000);

  test("while what was archived cannot be removed, the day after it is archived, and the first trouble is told of", async () => {
    const { storage, store, midnight, clock, noted, retention, close } = await live(dialect);
    await store.markSeen(await store.unseenTallies(100));
    await store.foldTallies(midnight / 3_600_000 + 24);
    const later = { ...systemClock, now: () => midnight + dayMs + 3_600_000, monotonic: () => 0, agrees: true };
    const stuck = { removeReceipts: () => Promise.reject(new Error("something keeps the table")) };
    await expect(retention({ store: stuck, clock: later }).work()).rejects.toThrow(/^something keeps the table$/);
    expect(noted).toMatchObject([{ receipts: 7 }, { receipts: 3 }]);
    expect(await storage.orm.em.fork().count(Usage)).toBe(10);
    await prove(storage);

    let asked = 0;
    const lease = { hold: async () => ++asked < 3 || Promise.reject(new Error("away")), release: async () => {} };
    const both = retention({ store: stuck, clock: later, lease }).work();
    await expect(both).rejects.toThrow("something keeps the table");
    await retention({ clock: later }).work();
    expect(await storage.orm.em.fork().count(Usage)).toBe(0);
    await prove(storage);
    await clock.until(close());
  }, 60_000);

  test("two cores at once archive a day once; the proof finds one that has not all receipts, and a cost that was taken for one", async () => {
    const { storage, clock, noted, directory, retention, close } = await live(dialect);
    const works = await Promise.allSettled([retention().work(), retention().work()]);
    expect(works.some(({ status }) => status === "fulfilled")).toBe(true);
    expect(await storage.orm.em.fork().count(ReceiptArchive)).toBe(1);
    expect(noted).toHaveLength(1);
    expect(readdirSync(directory)).toEqual([noted[0]?.file]);
    const file = readFileSync(join(directory, noted[0]?.file ?? ""));
    expect(createHash("sha256").update(file).digest("hex")).toBe(noted[0]?.sha256);
    expect(await storage.orm.em.fork().count(Usage)).toBe(3);
    await prove(storage);
    const em = storage.orm.em.fork();
    for (const [rule, sql] of [
      ["the archive of a day", "update receipt_archive set receipts = receipts - 1"],
      ["the archive of a day", "update receipt_archive set cost_low = cost_low - 1"],
      ["slice has spent what its receipt", "update sealed_slice set cost = cost - 1"],
    ] as const) {
      await em.execute(sql);
      const { findings } = await reconcile(storage);
      expect(findings.map((finding) => finding.rule).join()).toContain(rule);
      await em.execute(sql.replace("- 1", "+ 1"));
    }
    await prove(storage);
    await clock.until(close());
  }, 60_000);

  test("a core whose archive takes longer to write than a lease lasts keeps the work", async () => {
    const { storage, clock, midnight, directory, noted, retention, close } = await live(dialect);
    const manual = new ManualClock(midnight + 3_600_000);
    let asked = 0;
    const core = (place: Dependencies["place"]) => {
      const lease = new WorkLease({ storage, clock: manual, random: systemRandom, name: "retention" });
      return retention({
        place,
        lease: { hold: () => lease.hold().finally(() => asked++), release: () => lease.release() },
        clock: {
          ...{ agrees: true, now: () => manual.now(), monotonic: () => manual.monotonic() },
          after: (ms, act) => (ms === renewMs ? manual.after(ms, act) : systemClock.after(0, act)),
        },
      });
    };
    const folder = archiveFolder(directory, systemRandom);
    const others: string[] = [];
    const create = (name: string) => {
      others.push(name);
      return folder.create(name);
    };
    const second = core({ ...folder, create });
    const slow = async (name: string) => {
      const file = await folder.create(name);
      return {
        ...{ finish: () => file.finish(), abandon: () => file.abandon() },
        async write(content: Buffer) {
          for (let renewals = 0; renewals < 4; renewals++) {
            const before = asked;
            manual.advance(renewMs);
            await eventually("the lease is renewed", () => asked > before, 10);
            await second.work();
          }
          await file.write(content);
        },
      };
    };
    await core({ ...folder, create: slow }).work();
    expect(others).toEqual([]);
    expect(noted).toHaveLength(1);
    expect(await storage.orm.em.fork().count(Usage)).toBe(3);
    await clock.until(close());
  }, 60_000);

  test("nothing leaves before its usage is summed up, nor what is not due, and what leaves is found by indexes", async () => {
    const { storage, account, clock, retention, midnight, close } = await live(dialect);
    await retention({ keepDays: 1 }).work();
    const tally = {
      coreId: v7(),
      hour: midnight / 3_600_000 - 1,
      accountId: account,
      keyId: "",
      model: "late",
      seen: false,
    };
    const none = { requests: 0, inputTokens: 0, outputTokens: 0, costHigh: 0, costLow: 0, shortfall: 0 };
    await storage.orm.em.fork().insert(UsageTally, { ...tally, ...none });
    await retention().work();
    expect(await storage.orm.em.fork().count(Usage)).toBe(10);
    const plans: string[] = [];
    if (storage.dialect === "sqlite") {
      for (const sql of removalStatements) {
        const values = Array(sql.split("?").length - 1).fill(1);
        const steps = explainSqlite(storage, sql, values);
        plans.push(steps.map(({ detail }) => detail).join("\n"));
      }
    } else {
      const client = await storage.pool.connect();
      const allRuns = [NIL, NIL];
      await client.query(removeReceiptsSql.text, [1, ...allRuns]);
      expect((await client.query("show synchronous_commit")).rows).toEqual([{ synchronous_commit: "on" }]);
      await client.query("begin");
      await client.query(
        "set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off",
      );
      const { rows } = await client.query(`explain ${removeReceiptsSql.text}`, [100, ...allRuns]);
      await client.query("rollback");
      client.release();
      plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
    }
    expect(plans.filter((plan) => /SCAN usage|Seq Scan on usage|TEMP B-TREE/.test(plan))).toEqual([]);
    await clock.until(close());
  }, 60_000);
});
