import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { type Disk, systemDisk } from "#src/money/journal/disk.ts";
import type { CoreJournal } from "#src/money/journal/file-journal.ts";
import { openJournal } from "#src/money/journal/open-journal.ts";
import type { Hold } from "#src/money/model/ledger.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { ManualClock } from "../../../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../../../support/loggers.ts";
import { type Metering, never, openMetering, request, usd } from "../../../fixture.ts";

const tokens = { inputTokens: 100, outputTokens: 100 };

let directory: string;
let clock: ManualClock;
let journal: CoreJournal;
let metering: Metering;
let account: string;
/** How many charges each commit had. */
let groups: number[];
let diskWorks: boolean;
let syncs: number;

/** A core on a SQLite file, with a journal on the same disk; the disk can refuse. */
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-promise-first-"));
  clock = new ManualClock(Date.now());
  groups = [];
  diskWorks = true;
  syncs = 0;
  const disk: Disk = {
    ...systemDisk,
    fdatasync(...parameters) {
      syncs++;
      systemDisk.fdatasync(...parameters);
    },
  };
  journal = openJournal(directory, { clock, random: systemRandom, logger: silentLogger, disk });
  const promise = journal.promise.bind(journal);
  journal.promise = async (charges) => diskWorks && promise(charges);
  metering = await openMetering({
    ...{ clock, journal, coreId: journal.coreId, url: `sqlite:${join(directory, "tollgate.db")}` },
    wrap: (store) => {
      const settle = store.settle.bind(store);
      store.settle = (charges) => {
        groups.push(charges.length);
        return settle(charges);
      };
      return store;
    },
  });
  account = await metering.account({ paid: usd });
});
afterEach(async () => {
  await clock.until(metering.close());
  rmSync(directory, { recursive: true, force: true });
});

const hold = () => clock.until(metering.ledger.hold(request(account, tokens), never));
const receipts = () => metering.storage.orm.em.fork().count(Usage);
const settleOne = async () => (await hold()).settle(tokens, "completed");

describe("where the store is this core's alone", () => {
  test("a charge is acknowledged once the journal has it; the store has it when somebody is about to read", async () => {
    await settleOne(); // goes to the store at once: none went before
    await metering.ledger.caughtUp();
    await settleOne(); // the clock stands still, so no group can have been committed since
    expect(groups).toEqual([1]);
    await metering.ledger.caughtUp();
    expect(groups).toEqual([1, 1]);
    expect(await receipts()).toBe(2);
  });

  test("charges that end in one turn of the event loop are one sync of the disk", async () => {
    const holds: Hold[] = [];
    for (let index = 0; index < 8; index++) {
      holds.push(await hold());
    }
    const before = syncs;
    const callbacks = holds.map(
      (held) => new Promise((resolve) => setImmediate(() => resolve(held.settle(tokens, "completed")))),
    );
    await Promise.all(callbacks);
    expect(syncs - before).toBe(1);
  });

  test("charges of a tenth of a second are one commit", async () => {
    await settleOne();
    await metering.ledger.caughtUp();
    for (let index = 0; index < 20; index++) {
      await settleOne();
    }
    expect(groups).toEqual([1]);
    await clock.pass(100);
    await metering.ledger.caughtUp();
    expect(groups).toEqual([1, 20]);
    expect(await receipts()).toBe(21);
  });

  test("a journal that cannot promise lets the store acknowledge", async () => {
    diskWorks = false;
    await clock.until(settleOne());
    await clock.until(settleOne());
    expect(await receipts()).toBe(2);
  });

  test("who reads waits no longer than a second for a store that does not answer", async () => {
    const settle = metering.store.settle.bind(metering.store);
    const back = Promise.withResolvers<void>();
    metering.store.settle = async (charges) => {
      await back.promise;
      return settle(charges);
    };
    await settleOne();
    await clock.until(metering.ledger.caughtUp());
    expect(await receipts()).toBe(0);
    back.resolve();
  });
});
