import { expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import { startBackground } from "#src/money/background.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { databases } from "./databases.ts";
import { openMetering, usd } from "./fixture.ts";

const minute = 60_000;
const newDatabase = databases();

test("the books are proved within minutes of the start, then every hour, and a finding is an alarm", async () => {
  const clock = new ManualClock(Date.now());
  const metering = await openMetering({ clock });
  const { storage, store, ledger, prices, time } = metering;
  const account = await metering.account({ paid: usd });
  const proofs: boolean[] = [];
  const alarms: string[] = [];
  const logger: Logger = { debug() {}, info() {}, warn() {}, error: (_, message) => void alarms.push(message) };
  const stop = startBackground({
    ...{ storage, store, ledger, prices, models: () => [], clock: time, logger },
    random: { ...systemRandom, fraction: () => 0.5 },
    pricing: { interval_s: 60, max_step: 0.1 },
    utilisation: () => 0,
    deadLetters: metering.deadLetters,
    observer: { reconciled: ({ ok }) => void proofs.push(ok), provedElsewhere() {}, deadLetters() {}, daysAhead() {} },
  });
  await clock.advanceAsync(2 * minute);
  await clock.pass(1000);
  expect([proofs, alarms]).toEqual([[true], []]);

  await storage.orm.em.fork().execute("update lot set granted = granted + 1 where account_id = ?", [account]);
  await clock.advanceAsync(57 * minute);
  expect(proofs).toHaveLength(1);
  await clock.advanceAsync(5 * minute);
  await clock.pass(1000);
  expect([proofs, alarms]).toEqual([[true, false], ["the books do not add up"]]);
  stop();
  await clock.until(metering.close());
});

test("when the tables of the days to come cannot be made, it is told how many there are all the same", async () => {
  const clock = new ManualClock(Date.now());
  const metering = await openMetering({ clock, url: await newDatabase("postgresql") });
  const { storage, store, ledger, prices, time } = metering;
  const told: number[] = [];
  const alarms: string[] = [];
  const makeDays = async (_: number, isMine: () => Promise<boolean>) => {
    if (await isMine()) {
      throw new Error("something keeps the table");
    }
    return 2;
  };
  const stop = startBackground({
    ...{ storage, ledger, prices, models: () => [], clock: time, random: systemRandom },
    store: { foldTallies: (hour) => store.foldTallies(hour), makeDays },
    logger: { debug() {}, info() {}, warn() {}, error: (_, message) => void alarms.push(message) },
    pricing: { interval_s: 60, max_step: 0.1 },
    utilisation: () => 0,
    deadLetters: metering.deadLetters,
    observer: { reconciled() {}, provedElsewhere() {}, deadLetters() {}, daysAhead: (days) => void told.push(days) },
  });
  await clock.pass(2000);
  expect([told, alarms]).toEqual([[2], ["could not make the tables of the days to come"]]);
  stop();
  await clock.until(metering.close());
});
