import { expect, test } from "@jest/globals";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import { Lot } from "#src/storage/entities/metering/lot.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { databases } from "../databases.ts";
import { openMetering, request, run, usd } from "../fixture.ts";

const newDatabase = databases();
/** All of an account with one USD. */
const everything = { inputTokens: 0, outputTokens: usd / 250_000 };

test.each([
  ["fails", () => Promise.reject(new Error("the host is a standby"))],
  ["gets no answer", () => new Promise<void>(() => {})],
])(
  "while listening to other cores %s, slices are closed and a core in doubt finds out what it lost",
  async (_, listen) => {
    const clock = new ManualClock(Date.now());
    const url = await newDatabase("postgresql");
    const metering = await openMetering({ clock, url });
    const other = await openMetering({ clock, url });
    metering.store.listen = listen;
    const account = await metering.account({ paid: usd });
    await clock.pass(2000); // it has asked at least once
    await clock.until(run(metering.ledger, request(account, everything)));
    await clock.pass(3000);
    expect(await metering.storage.orm.em.fork().findAll(Lot)).toMatchObject([{ leased: 0, spent: usd }]);

    await clock.until(other.store.reap((await clock.until(other.store.heartbeat())).others));
    await clock.pass(8000);
    expect(metering.ledger.state().admits).toBe(true);
    for (const core of [metering, other]) {
      await clock.until(core.close());
    }
  },
  60_000,
);

test("a core starts while other cores cannot be heard, and hears them once they can", async () => {
  let isAway = true;
  let heard = 0;
  const clock = new ManualClock(Date.now());
  const wrap = (store: LedgerStore) => {
    store.listen = async () => {
      if (isAway) {
        throw new Error("the host is a standby");
      }
      heard++;
    };
    return store;
  };
  const metering = await openMetering({ clock, wrap });
  expect(metering.log.join()).toContain("other cores are not heard yet");
  isAway = false;
  await clock.pass(2000);
  expect(heard).toBeGreaterThan(0);
  await clock.until(metering.close());
});
