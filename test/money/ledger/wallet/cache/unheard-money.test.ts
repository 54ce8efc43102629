import { expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import { ManualClock } from "../../../../support/clocks/manual-clock.ts";
import { eventually } from "../../../../support/eventually.ts";
import { databases } from "../../../databases.ts";
import { openMetering, request, run, usd } from "../../../fixture.ts";

// A core that is alone hears of all money, so an account that it has found empty is looked at again only when it hears of some.

const newDatabase = databases();
const tokens = { inputTokens: 0, outputTokens: 100 };
const full = () => Promise.reject(new Error("SQLITE_FULL"));

async function open(wrap?: (store: LedgerStore) => LedgerStore) {
  const clock = new ManualClock(Date.now());
  const metering = await openMetering({ clock, url: await newDatabase("sqlite"), ...(wrap && { wrap }) });
  const outcome = (account: string) =>
    clock.until(run(metering.ledger, request(account, tokens))).then(
      () => "charged",
      (error: unknown) => Reason[readDetail(error)?.reason ?? 0],
    );
  return { clock, metering, outcome };
}

test("money that an idle account's slices give back late can be spent at once", async () => {
  const { clock, metering, outcome } = await open();
  const account = await metering.account({ paid: usd });
  expect(await outcome(account)).toBe("charged");
  const { close } = metering.store;
  metering.store.close = full;
  await clock.pass(310_000); // until it is idle: what it has cannot be given back
  expect(await outcome(account)).toBe("BALANCE_EXHAUSTED");
  metering.store.close = close.bind(metering.store);
  await clock.pass(2000);
  expect(await outcome(account)).toBe("charged");
  await clock.until(metering.close());
}, 60_000);

test.each(["a top-up", "slices that are closed"])(
  "%s while an account's wallet is being opened is seen",
  async (what) => {
    const answered = Promise.withResolvers<void>();
    const mayGoOn = Promise.withResolvers<void>();
    let isSlow = false;
    const wrap = (store: LedgerStore) => {
      const acquire = store.acquire.bind(store);
      store.acquire = async (...asked) => {
        const leases = await acquire(...asked);
        if (isSlow) {
          answered.resolve();
          await mayGoOn.promise;
        }
        return leases;
      };
      return store;
    };
    const { clock, metering, outcome } = await open(wrap);
    const isClosing = what !== "a top-up";
    const account = await metering.account(isClosing ? { paid: usd } : {});
    const { close } = metering.store;
    if (isClosing) {
      expect(await outcome(account)).toBe("charged");
      metering.store.close = full;
      await clock.pass(310_000);
    }
    isSlow = true;
    const first = outcome(account);
    await answered.promise;
    isSlow = false;
    metering.store.close = close.bind(metering.store);
    const credit = isClosing
      ? clock.pass(2000)
      : metering.funds.credit({ accountId: account, kind: "paid", amount: usd, reference: v7() });
    await eventually("it came in", async () => (await metering.funds.statement(account)).balance > 0n);
    await clock.pass(1000); // so the core has heard of it
    mayGoOn.resolve();
    await credit;
    expect(await first).toBe("charged");
    expect(await outcome(account)).toBe("charged");
    await clock.until(metering.close());
  },
  60_000,
);
