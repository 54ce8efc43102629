import { expect, test } from "@jest/globals";
import type { LedgerStore } from "../../../../src/metering/store/ledger-store.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { never, openMetering, request, usd } from "../../fixture.ts";

/** So many promises at most lie between a lease and the request that it is for. */
const mostTurns = 40;

test("money that others call in between a lease and its request is looked for again, whenever that is", async () => {
  const clock = new ManualClock(Date.now(), false);
  let hear = (_accountId: string) => {};
  let callIn: (() => void) | undefined;
  const wrap = (store: LedgerStore): LedgerStore =>
    new Proxy(store, {
      get(target, name) {
        if (name === "listen") {
          return async (heard: typeof hear) => {
            hear = heard;
          };
        }
        if (name === "acquire") {
          return async (...asked: Parameters<LedgerStore["acquire"]>) => {
            const leases = await target.acquire(...asked);
            callIn?.();
            return leases;
          };
        }
        const value = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  const metering = await openMetering({ clock, wrap });
  for (let turns = 0; turns < mostTurns; turns++) {
    const account = await metering.account({ paid: 10 * usd });
    const tokens = { inputTokens: 10, outputTokens: 100 };
    await clock.until(metering.ledger.withFreeReturned(account, async () => {}));
    callIn = () => {
      callIn = undefined;
      void later(turns, () => hear(account));
    };
    const hold = await clock.until(metering.ledger.hold(request(account, tokens), never));
    expect(hold.outputTokens).toBe(100);
    await clock.until(hold.settle(tokens, "completed"));
  }
  expect(metering.log.filter((line) => line.includes("never may"))).toEqual([]);
  await clock.until(metering.close());
});

async function later(turns: number, run: () => void): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await undefined;
  }
  run();
}
