import { expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import { startBackground } from "#src/money/background.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { openMetering, usd } from "./fixture.ts";

const minute = 60_000;

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
