import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { databases, dialects } from "../../databases.ts";
import { usd } from "../../fixture.ts";
import { openStore } from "./opened.ts";

const newDatabase = databases();

// The contract that the ledger relies on, on both databases.
describe.each(dialects)("%s", (dialect) => {
  const opened = openStore(dialect, newDatabase);
  const { lease, leaseOne, chargeTo, slice, lots } = opened;

  test("leases what is needed over lots in the order of spending, and tells what is left", async () => {
    const account = await opened.metering.account({ free: 100, paid: usd });
    await opened.metering.funds.credit({ accountId: account, kind: "grant", amount: 50, reference: v7() });
    const got = await lease(account, 200);
    expect(got?.slices.map(({ kind, granted }) => [kind, granted])).toEqual([
      ["free", 100],
      ["grant", 50],
      ["paid", 50],
    ]);
    expect(got).toMatchObject({
      ...{ paidTotal: BigInt(usd), paidLeft: BigInt(usd), unleased: BigInt(usd - 50), elsewhere: 0n },
    });
    expect((await lots()).map(({ leased }) => leased).sort((a, b) => a - b)).toEqual([50, 50, 100]);
    expect(await lease(v7(), 1)).toBeUndefined();
    expect((await lease(account, 0))?.slices).toEqual([]);
  });

  test("leases no more than there is, and nothing of an expired lot", async () => {
    const account = await opened.metering.account({ free: 100 });
    const expiresAt = new Date(opened.clock.now() + 1000);
    await opened.metering.funds.credit({ accountId: account, kind: "grant", amount: 70, reference: v7(), expiresAt });
    opened.clock.jump(2000);
    expect((await lease(account, 1000))?.slices.map(({ granted }) => granted)).toEqual([100]);
    expect(await lease(account, 1000)).toMatchObject({ slices: [], unleased: 0n });
  });

  test("gives parts back, and the rest when a slice is closed", async () => {
    const account = await opened.metering.account({ free: 1000 });
    const own = await leaseOne(account, 600);
    await opened.store.settle([chargeTo([own], 100)]);
    await opened.store.giveBack([{ sliceId: own.id, granted: 400 }]);
    expect(await slice(own.id)).toMatchObject({ granted: 400, spent: 100 });
    expect(await lots()).toMatchObject([{ leased: 400, spent: 0 }]);
    await opened.store.close([own.id, own.id]);
    await opened.store.close([own.id]);
    expect(await lots()).toMatchObject([{ leased: 0, spent: 100 }]);
    expect(await lease(account, 5000)).toMatchObject({ slices: [{ granted: 900 }] });
  });

  test("what goes back is said as a size: late, lost or twice, it means the same", async () => {
    const account = await opened.metering.account({ free: 1000 });
    const own = await leaseOne(account, 600);
    await opened.store.giveBack([{ sliceId: own.id, granted: 400 }]);
    await opened.store.giveBack([{ sliceId: own.id, granted: 400 }]);
    expect(await slice(own.id)).toMatchObject({ granted: 400 });
    await opened.store.giveBack([{ sliceId: own.id, granted: 300 }]);
    await opened.store.giveBack([{ sliceId: own.id, granted: 400 }]); // it comes late
    expect(await slice(own.id)).toMatchObject({ granted: 300 });
    expect(await lots()).toMatchObject([{ leased: 300, spent: 0 }]);
    expect(await opened.store.openSlices({ accountId: account })).toMatchObject([{ granted: 300, unspent: 300 }]);
  });
});
