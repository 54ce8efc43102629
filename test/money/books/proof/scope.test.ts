import { expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { dayMs } from "#lib/time/days.ts";
import { everything, inScope, readScope, type Scope } from "#src/money/books/proof/scope.ts";
import { allAccounts } from "#src/money/store/rollups.ts";
import { DaySeal, SealedAccount } from "#src/storage/entities/metering/seal.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { databases, dialects } from "../../databases.ts";

const newDatabase = databases();
const span = (first: number, last: number) => ({ from: first * dayMs, to: (last + 1) * dayMs });

test.each(dialects)(
  "%s: which days a rule believes is one row a run of them, however many days are sealed",
  async (dialect) => {
    const storage = await openStorage(await newDatabase(dialect));
    const em = storage.orm.em.fork();
    const seal = (number: number, day: number, receipts: number): DaySeal => ({
      ...{ id: v7(), number, day, receipts, costHigh: 0, costLow: 0, root: "", chain: "", at: new Date() },
    });
    const counted = (day: number, requests: number) =>
      em.execute(
        `insert into usage_rollup (account_id, span, slot, key_id, model, requests, input_tokens, output_tokens, cost_high, cost_low, shortfall)
       values ('${allAccounts}', 'day', ?, '', 'm', ?, 0, 0, 0, 0, 0)`,
        [day, requests],
      );
    for (let at = 0; at < 300; at++) {
      await em.insert(DaySeal, seal(at + 1, 1000 + at + (at < 200 ? 0 : 5), 2)); // of five days nobody asked anything
    }
    await em.insert(DaySeal, seal(301, 1150, 3)); // late charges
    for (let day = 1000; day < 1305; day++) {
      await counted(day, day === 1150 || day === 1260 ? 3 : 2); // of 1260, charges came that are not sealed
    }
    await em.execute(
      "insert into receipt_archive (day, receipts, cost_high, cost_low, file, bytes, sha256, at) values (1100, 2, 0, 0, '', 0, '', ?)",
      [new Date()],
    );
    const asked: number[] = [];
    const read = async (all: boolean) => {
      const snapshot = await storage.snapshot("tables");
      const few: typeof snapshot.few = async (...question) => {
        const rows = await snapshot.few(...question);
        asked.push(rows.length);
        return rows;
      };
      return readScope({ few }, all).finally(() => snapshot.close());
    };
    expect(await read(false)).toEqual({
      sealed: [span(1000, 1199), span(1205, 1259), span(1261, 1304)],
      disbelieved: [1260],
      allSums: false,
    });
    const { sealed, disbelieved, allSums } = await read(true);
    expect(allSums).toBe(true); // they stay when receipts leave
    expect(sealed).toEqual([span(1000, 1100)]);
    expect([disbelieved.length, disbelieved[0], disbelieved.at(-1)]).toEqual([199, 1101, 1304]);
    expect(asked).toEqual([4, 3]);
    await storage.close();
  },
  60_000,
);

test.each(dialects)(
  "%s: the seals that rules compare are those of few days, however many days are sealed",
  async (dialect) => {
    const storage = await openStorage(await newDatabase(dialect));
    const em = storage.orm.em.fork();
    const first = 20_000;
    const sums = { receipts: 1, costHigh: 0, costLow: 1 };
    for (let at = 0; at < 400; at++) {
      const id = v7();
      const day = { ...sums, id, number: at + 1, day: first + at, root: "", chain: "", at: new Date() };
      await em.insert(DaySeal, day);
      await em.insert(SealedAccount, { ...sums, sealId: id, accountId: v7(), digest: "" });
    }
    const near = async (scope: Scope): Promise<number[]> => {
      const sql = "select day from near_seal join near_account on near_account.seal_id = near_seal.id order by day";
      const rows = await em.execute<{ day: number }[]>(inScope(sql, scope, dialect));
      return rows.map(({ day }) => Number(day));
    };
    const all = Array.from({ length: 400 }, (_, at) => first + at);
    // The longest spans of usage have 64 days: those of the first and of the last sealed day have open days, too.
    expect(await near({ sealed: [span(first, first + 399)], disbelieved: [] })).toEqual(
      all.filter((day) => day < Math.ceil(first / 64) * 64 || day >= Math.floor((first + 400) / 64) * 64),
    );
    expect(await near(everything)).toEqual(all);
    await storage.close();
  },
);

test.each(dialects)("%s: a part looks at no day that is sealed", async (dialect) => {
  const storage = await openStorage(await newDatabase(dialect));
  const days = async (scope: Omit<Scope, "disbelieved">): Promise<number[]> => {
    const hours = Array.from({ length: 12 }, (_, day) => `select ${day} as slot`).join(" union all ");
    const rows = await storage.orm.em
      .fork()
      .execute<{ slot: number }[]>(
        inScope(
          (isInScope) => `select slot from (${hours}) days where ${isInScope("slot", 24)} order by slot`,
          { ...scope, disbelieved: [] },
          dialect,
        ),
      );
    return rows.map(({ slot }) => Number(slot));
  };
  const sealed = [span(2, 4), span(6, 9)];
  expect(await days({ sealed })).toEqual([0, 1, 5, 10, 11]);
  expect(await days({ sealed, within: { from: 1 * dayMs, to: 6 * dayMs } })).toEqual([1, 5]);
  expect(await days({ sealed, within: { from: 5 * dayMs } })).toEqual([5, 10, 11]);
  expect(await days({ sealed, within: span(7, 8) })).toEqual([]);
  await storage.close();
});
