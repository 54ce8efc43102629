import { createHash } from "node:crypto";
import { expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { listSeals } from "#src/money/books/seals/seal-list.ts";
import { extendChain } from "#src/money/books/seals/seal-tree.ts";
import { DaySeal } from "#src/storage/entities/metering/seal.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../../databases.ts";
import { openMetering } from "../../fixture.ts";

const newDatabase = databases();

test.each(dialects)("%s: whoever has a seal checks those after it by what is told of them", async (dialect) => {
  const clock = new ManualClock(Date.now());
  const { storage, close } = await openMetering({ clock, url: await newDatabase(dialect) });
  const seals: DaySeal[] = [];
  for (let number = 1; number <= 1003; number++) {
    const sums = { receipts: number, costHigh: 1, costLow: number };
    const seal = { ...sums, id: v7(), number, day: 20_000 + number, root: `root ${number}` };
    seals.push({ ...seal, chain: extendChain(seals.at(-1)?.chain ?? "", seal), at: new Date(number) });
  }
  await inTransaction(storage, (em) => em.insertMany(DaySeal, seals));

  const first = await listSeals(storage, 0);
  const rest = await listSeals(storage, 1000);
  expect(first.map(({ number }) => number)).toEqual(seals.slice(0, 1000).map(({ number }) => number));
  expect(rest.map(({ number }) => number)).toEqual([1001, 1002, 1003]);
  expect(first[0]).toMatchObject({ day: "2024-10-05", sealedAt: { seconds: 0n, nanos: 1_000_000 } });
  let chain = "";
  for (const seal of [...first, ...rest]) {
    const days = Date.parse(seal.day) / 86_400_000;
    const fields = [chain, String(seal.number), String(days), seal.root, seal.sums];
    chain = createHash("sha256").update(JSON.stringify(fields)).digest("hex");
    expect(seal.chain).toBe(chain);
  }
  expect(await listSeals(storage, 1003)).toEqual([]);
  await clock.until(close());
});
