import { expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { readScope } from "#src/money/books/proof/scope.ts";
import { dayMs } from "#src/money/store/kept-from.ts";
import { allAccounts } from "#src/money/store/rollups.ts";
import { DaySeal } from "#src/storage/entities/metering/seal.ts";
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
