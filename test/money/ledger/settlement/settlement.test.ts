import { expect, test } from "@jest/globals";
import type { JournalEntry } from "#src/money/journal/journal.ts";
import { noJournal } from "#src/money/journal/journal.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { never, openMetering, request } from "../../fixture.ts";

/** What a token of the test's model costs at its output rate. */
const out = 250_000;
const output = (outputTokens: number) => ({ inputTokens: 0, outputTokens });

test("the last count of a request is noted while money beyond its hold is waited for", async () => {
  const clock = new ManualClock(Date.now());
  const noted: JournalEntry[] = [];
  let isAway = false;
  const metering = await openMetering({
    clock,
    journal: { ...noJournal, note: (entry) => void noted.push(entry) },
    wrap: (store) =>
      Object.assign(Object.create(store), {
        acquire: (...asked: Parameters<typeof store.acquire>) =>
          isAway
            ? new Promise((_, reject) => void clock.after(5000, () => reject(new Error("away"))))
            : store.acquire(...asked),
      }),
  });
  const account = await metering.account({ free: 100 * out });
  const hold = await clock.until(metering.ledger.hold(request(account, output(100)), never));
  isAway = true;
  const settled = hold.settle(output(130), "completed");
  await clock.advanceAsync(100);
  expect(noted.at(-1)?.tokens).toEqual(output(130));
  isAway = false;
  await clock.until(settled);
  await clock.until(metering.close());
});
