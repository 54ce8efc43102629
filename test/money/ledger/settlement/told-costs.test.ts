import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { openJournal } from "#src/money/journal/open-journal.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../../support/loggers.ts";
import { databases, dialects } from "../../databases.ts";
import { type Metering, never, openMetering, request, testModel, usd } from "../../fixture.ts";

// A client is told its cost as soon as the journal has promised the charge. It is never charged more.

const out = 250_000;
const newDatabase = databases();
const output = (outputTokens: number) => ({ inputTokens: 0, outputTokens });

describe.each(dialects)("%s", (dialect) => {
  /** A core with a journal, and an account with a cheap lot to be spent first and a dear one after it, or the other way round. */
  async function open([first, second] = [1, 4]) {
    const directory = mkdtempSync(join(tmpdir(), "tollgate-told-"));
    const url = await newDatabase(dialect);
    const clock = new ManualClock(Date.now());
    const journal = openJournal(directory, { clock, random: systemRandom, logger: silentLogger });
    const metering = await openMetering({ clock, url, journal, coreId: journal.coreId });
    const accountId = await metering.account();
    const credit = (kind: "free" | "paid") =>
      clock.until(metering.funds.credit({ accountId, kind, amount: usd, reference: v7() }));
    const price = (times = 1) => metering.prices.set(testModel, { input: times * out, output: times * out });
    await price(first);
    await credit("free");
    await price(second);
    await credit("paid");
    const hold = await clock.until(metering.ledger.hold(request(accountId, output(1000)), never));
    return { directory, url, clock, metering, hold, journal, price, credit };
  }

  /** Takes a lot of the account's from this core, as others do once it is taken for dead, and spends it. */
  async function loseLot({ storage }: Metering, kind: "free" | "paid"): Promise<void> {
    const em = storage.orm.em.fork();
    await em.execute("update slice set open = false where lot_id in (select id from lot where kind = ?)", [kind]);
    await em.execute("update lot set spent = granted, leased = 0 where kind = ?", [kind]);
  }

  const receipts = ({ storage }: Metering) => storage.orm.em.fork().findAll(Usage);

  test("a promised charge whose money is lost is made anew, and costs what the client was told", async () => {
    const { directory, clock, metering, hold } = await open();
    const settle = metering.store.settle.bind(metering.store);
    const slow = Promise.withResolvers<void>();
    metering.store.settle = async (charges) => {
      await slow.promise;
      return settle(charges);
    };
    const told = await clock.until(hold.settle(output(1000), "completed"));
    expect(told?.cost).toBe(1000 * out);
    expect(await receipts(metering)).toEqual([]); // the store is slow: the journal has promised it

    await loseLot(metering, "free");
    slow.resolve();
    await clock.until(metering.ledger.close());
    expect(await receipts(metering)).toMatchObject([{ outputTokens: 1000, cost: 1000 * out, shortfall: 0 }]);
    await metering.storage.close();
    rmSync(directory, { recursive: true, force: true });
  });

  test("so does one that the next process finds in the journal, and the books prove", async () => {
    const { directory, url, clock, metering, hold, journal: dying } = await open();
    metering.store.settle = () => Promise.reject(new Error("away"));
    const told = await clock.until(hold.settle(output(1000), "completed"));
    await loseLot(metering, "free");
    await dying.close(); // what is in the file now is all that is left
    await metering.store.end();
    await metering.storage.close();

    const journal = openJournal(directory, { clock, random: systemRandom, logger: silentLogger });
    const next = await openMetering({ clock, url, journal, coreId: journal.coreId });
    await clock.until(next.ledger.caughtUp());
    const [receipt] = await receipts(next);
    expect(receipt).toMatchObject({ outputTokens: 1000, cost: told?.cost, shortfall: 0 });
    const { findings } = await clock.until(reconcile(next.storage, next.ledger));
    expect(findings.filter(({ rule }) => /receipt|line/.test(rule))).toEqual([]);
    await clock.until(next.close());
    rmSync(directory, { recursive: true, force: true });
  });

  test("so does one that became cheaper after a promise of it could not be written", async () => {
    const { directory, url, clock, metering, hold, journal: dying, price, credit } = await open([4, 1]);
    const promise = dying.promise.bind(dying);
    dying.promise = async () => false; // its disk is full
    const settle = metering.store.settle.bind(metering.store);
    const slow = Promise.withResolvers<void>();
    let isAnew = false;
    metering.store.settle = async (charges) => {
      if (isAnew) {
        throw new Error("away");
      }
      await slow.promise;
      isAnew = true;
      return settle(charges);
    };
    const settled = hold.settle(output(1000), "completed");
    await clock.pass(1000);
    await loseLot(metering, "free");
    slow.resolve();
    await clock.pass(1000);
    dying.promise = promise;
    const told = await clock.until(settled);
    expect(told?.cost).toBe(1000 * out);
    await loseLot(metering, "paid");
    await price(4);
    await credit("free");
    await dying.close();
    await metering.store.end();
    await metering.storage.close();

    const journal = openJournal(directory, { clock, random: systemRandom, logger: silentLogger });
    const next = await openMetering({ clock, url, journal, coreId: journal.coreId });
    await clock.until(next.ledger.caughtUp());
    expect(await receipts(next)).toMatchObject([{ outputTokens: 1000, cost: 1000 * out, shortfall: 0 }]);
    await clock.until(next.close());
    rmSync(directory, { recursive: true, force: true });
  });
});
