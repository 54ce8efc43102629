import { expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { DayProofs } from "#src/money/books/bill/day-proofs.ts";
import { climb, digestDay, extendChain } from "#src/money/books/seals/seal-tree.ts";
import { DaySeal, SealedAccount } from "#src/storage/entities/metering/seal.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../../databases.ts";
import { openMetering } from "../../fixture.ts";

const newDatabase = databases();

test.each(dialects)(
  "%s: an account among thousands is led to the root, and only the first one to ask reads all of them",
  async (dialect) => {
    const clock = new ManualClock(Date.now());
    const { storage, close } = await openMetering({ clock, url: await newDatabase(dialect) });
    const sealId = v7();
    const accounts = Array.from({ length: 2500 }, () => v7())
      .toSorted()
      .map((accountId, at) => ({ ...{ sealId, accountId, receipts: at, costHigh: 0, costLow: at }, digest: `${at}` }));
    const sums = { receipts: 1, costHigh: 0, costLow: 1 };
    const seal = { ...sums, id: sealId, number: 1, day: 20_000, root: digestDay(accounts) };
    await inTransaction(storage, async (em) => {
      for (let at = 0; at < accounts.length; at += 500) {
        await em.insertMany(SealedAccount, accounts.slice(at, at + 500));
      }
      await em.insert(DaySeal, { ...seal, chain: extendChain("", seal), at: new Date() });
    });
    let snapshots = 0;
    const counted = {
      ...storage,
      snapshot: () => {
        snapshots++;
        return storage.snapshot();
      },
    };
    const proofs = new DayProofs(counted as typeof storage);
    for (const at of [0, 1, 1023, 1024, 2047, 2048, 2499]) {
      const { account, root } = await proofs.prove(1, accounts[at]?.accountId ?? "");
      expect(account && climb(account.seal, account.path)).toBe(root);
      expect(account?.seal.digest).toBe(`${at}`);
    }
    expect(snapshots).toBe(1);
    expect(await proofs.prove(1, v7())).not.toHaveProperty("account");
    await clock.until(close());
  },
);
