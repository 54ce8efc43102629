import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { never, openMetering, request, usd } from "../../fixture.ts";

/** So many promises at most lie between a lease and the request that it is for. */
const mostTurns = 40;

/** A core that hears what `hear` says, and on which something happens at the end of the next call of a method of its store. */
async function openHearing(clock: ManualClock) {
  let hear = (_accountId: string) => {};
  let next: { readonly method: string; readonly run: () => void } | undefined;
  const wrap = (store: LedgerStore): LedgerStore =>
    new Proxy(store, {
      get(target, name) {
        if (name === "listen") {
          return async (heard: typeof hear) => {
            hear = heard;
          };
        }
        const value = Reflect.get(target, name, target);
        if (typeof value !== "function") {
          return value;
        }
        return name !== next?.method
          ? value.bind(target)
          : async (...asked: unknown[]) => {
              const answer = await value.apply(target, asked);
              const { run } = next ?? {};
              next = undefined;
              run?.();
              return answer;
            };
      },
    });
  const metering = await openMetering({ clock, wrap });
  return {
    metering,
    hear: (accountId: string) => hear(accountId),
    after(method: "acquire" | "acquireBudget", run: () => void) {
      next = { method, run };
    },
  };
}

test("money that others call in between a lease and its request is looked for again, whenever that is", async () => {
  const clock = new ManualClock(Date.now(), false);
  const { metering, hear, after } = await openHearing(clock);
  for (let turns = 0; turns < mostTurns; turns++) {
    const account = await metering.account({ paid: 10 * usd });
    const tokens = { inputTokens: 10, outputTokens: 100 };
    await clock.until(metering.ledger.withFreeReturned(account, async () => {}));
    after("acquire", () => void later(turns, () => hear(account)));
    const hold = await clock.until(metering.ledger.hold(request(account, tokens), never));
    expect(hold.outputTokens).toBe(100);
    await clock.until(hold.settle(tokens, "completed"));
  }
  expect(metering.log.filter((line) => line.includes("never may"))).toEqual([]);
  await clock.until(metering.close());
});

test("so it is for a request whose time to wait is over: nobody holds what it needs", async () => {
  const clock = new ManualClock(Date.now(), false);
  const { metering, hear, after } = await openHearing(clock);
  const { ledger } = metering;
  for (let turns = 0; turns < mostTurns; turns++) {
    const account = await metering.account({ paid: 10 * usd });
    const tokens = { inputTokens: 0, outputTokens: 100 };
    const budget = { id: randomUUID(), limit: 100 * 250_000, period: "total" } as const;
    const first = await clock.until(ledger.hold(request(account, tokens, { budget }), never));
    const second = ledger.hold(request(account, tokens, { budget }), never);
    second.catch(() => {}); // until it is looked at
    await clock.pass(1000);
    after("acquireBudget", () => {
      first.release();
      void later(turns, () => hear(account));
    });
    const hold = await clock.until(second);
    expect(hold.outputTokens).toBe(100);
    await clock.until(hold.settle(tokens, "completed"));
  }
  await clock.until(metering.close());
});

async function later(turns: number, run: () => void): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await undefined;
  }
  run();
}
