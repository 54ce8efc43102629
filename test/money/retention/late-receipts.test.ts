import { describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import { archiveFolder } from "#src/money/retention/folder.ts";
import type { ArchivePlace } from "#src/money/retention/place.ts";
import { ReceiptArchive } from "#src/storage/entities/metering/archive.ts";
import { UsageTally } from "#src/storage/entities/metering/rollup.ts";
import { DaySeal } from "#src/storage/entities/metering/seal.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { eventually } from "../../support/eventually.ts";
import { dialects } from "../databases.ts";
import { testModel } from "../fixture.ts";
import { settledDays } from "./settled-days.ts";

const live = settledDays();

/** A folder for archives. Something happens while the first file is written. */
function disturbed(directory: string, happen: () => Promise<unknown>): ArchivePlace {
  const folder = archiveFolder(directory, systemRandom);
  let isFirst = true;
  return {
    ...folder,
    async create(name) {
      const file = await folder.create(name);
      const finish = file.finish.bind(file);
      file.finish = async () => {
        if (isFirst) {
          isFirst = false;
          await happen();
        }
        return finish();
      };
      return file;
    },
  };
}

describe.each(dialects)("%s", (dialect) => {
  test("a receipt of a day that comes while its archive is written is in the seal and the archive that count", async () => {
    const { storage, store, retention, midnight, noted, ids, directory, close } = await live(dialect);
    const em = storage.orm.em.fork();
    /** Has a receipt of the next day be one of this day that came late, and be counted on it, too. */
    const move = async (at: number) => {
      const { accountId, keyId, model, inputTokens, outputTokens, cost, shortfall } = await em.findOneOrFail(Usage, {
        requestId: ids.at(-1) ?? "",
      });
      const sums = { requests: 1, inputTokens, outputTokens, costHigh: Math.floor(cost / 1e6), costLow: cost % 1e6 };
      const hour = Math.floor(at / 3_600_000);
      const tally = { coreId: v7(), hour, accountId, keyId, model, shortfall, seen: true, unbudgeted: false };
      await em.insert(UsageTally, { ...tally, ...sums });
      await em.execute(
        dialect === "postgresql"
          ? "update usage set settled_at = to_timestamp(? / 1000.0) where request_id = ?"
          : "update usage set settled_at = ? where request_id = ?",
        [at, ids.at(-1) ?? ""],
      );
    };
    const late = { place: disturbed(directory, () => move(midnight - 1000)) };
    await expect(retention(late).work()).rejects.toThrow("8 receipts of a day are in the books");
    expect(await storage.orm.em.fork().count(ReceiptArchive)).toBe(0);
    expect(noted).toEqual([]);
    await retention(late).work();
    expect(noted).toEqual([]);
    await store.foldTallies(midnight / 3_600_000);
    await retention(late).work();
    expect(noted).toMatchObject([{ receipts: 8 }]);
    expect(await em.find(DaySeal, {}, { orderBy: { number: "asc" } })).toMatchObject([
      { receipts: 7 },
      { receipts: 8 },
    ]);
    expect(await storage.orm.em.fork().count(Usage)).toBe(2);
    await close();
  });

  test("a day whose seal is another one once its archive is written stays in the books", async () => {
    const { storage, retention, noted, directory, close } = await live(dialect);
    const place = disturbed(directory, () =>
      storage.orm.em.fork().execute("update day_seal set cost_low = cost_low + 1"),
    );
    await expect(retention({ place }).work()).rejects.toThrow("the seal of a day has 7 receipts, and its archive 7");
    expect(await storage.orm.em.fork().count(ReceiptArchive)).toBe(0);
    expect(await storage.orm.em.fork().count(Usage)).toBe(10);
    expect(noted).toEqual([]);
    await close();
  });

  test("a charge of a day that has an archive is fenced: its receipt would be nowhere", async () => {
    const { storage, store, account, retention, midnight, settledOn, close } = await live(dialect);
    await retention().work();
    const charge = (settledAt: number): Charge => ({
      ...{ requestId: v7(), runId: v7(), accountId: account, keyId: "", model: testModel, settledAt, lines: [] },
      ...{ inputTokens: 1, outputTokens: 1, cost: 0, shortfall: 0, status: "completed" },
    });
    const [late, timely] = [charge(settledOn), charge(midnight)];
    expect(await store.settle([late, timely])).toEqual(["fenced", "stored"]);
    expect(await storage.orm.em.fork().count(Usage, { runId: late.runId })).toBe(0);
    expect(await store.settle([timely])).toEqual(["repeated"]);
    await close();
  });

  if (dialect === "postgresql") {
    test("a charge that is being stored while its day gets its archive is waited for, and counted", async () => {
      const { storage, url, account, retention, midnight, ids, close } = await live(dialect);
      const other = new Client({ connectionString: url });
      await other.connect();
      const move = "update usage set settled_at = to_timestamp($1 / 1000.0) where request_id = $2";
      await other.query("begin");
      await other.query(move, [midnight - 1000, ids.at(-1)]);
      await other.query(
        `insert into usage_tally (core_id, hour, account_id, key_id, model, requests, input_tokens, output_tokens, cost_high,
           cost_low, shortfall) values ($1, $2, $3, '', 'm', 1, 0, 0, 0, 0, 0)`,
        [v7(), midnight / 3_600_000 - 1, account],
      );
      const working = retention().work();
      await eventually("the archive waits", async () => {
        const waiting = "select 1 from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))";
        const { rows } = await other.query(waiting);
        return rows.length > 0;
      });
      await other.query("commit");
      await expect(working).rejects.toThrow("8 receipts of a day are in the books");
      expect(await storage.orm.em.fork().count(ReceiptArchive)).toBe(0);
      await other.end();
      await close();
    });
  }
});
