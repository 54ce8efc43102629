import { describe, expect, test } from "@jest/globals";
import { databases, dialects } from "../../databases.ts";
import { openStore } from "./opened.ts";

const newDatabase = databases();

// The contract that the ledger relies on, on both databases.
describe.each(dialects)("%s", (dialect) => {
  const opened = openStore(dialect, newDatabase);
  const { leaseOne, chargeTo, lots } = opened;

  test("many groups, leases and returns at once keep every sum", async () => {
    const accounts = await Promise.all(Array.from({ length: 5 }, () => opened.metering.account({ free: 100_000 })));
    const work = accounts.flatMap((account) =>
      Array.from({ length: 10 }, async () => {
        const own = await leaseOne(account, 1000);
        await opened.store.settle([chargeTo([own], 100), chargeTo([own], 200)]);
        await opened.store.giveBack([{ sliceId: own.id, granted: 700 }]);
        await opened.store.settle([chargeTo([own], 50)]);
        await opened.store.close([own.id]);
      }),
    );
    await Promise.all(work);
    for (const lot of await lots()) {
      expect(lot).toMatchObject({ leased: 0, spent: 3500 });
    }
  });
});
