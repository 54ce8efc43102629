import { expect, test } from "@jest/globals";
import { Outage } from "#lib/errors/outage.ts";
import { noJournal } from "#src/money/journal/journal.ts";
import { recover } from "#src/money/ledger/recovery.ts";
import type { Settler } from "#src/money/ledger/settlement/settler/settler.ts";
import { WalletCache } from "#src/money/ledger/wallet/cache/wallet-cache.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../support/loggers.ts";

test("an audit leaves the slices of an earlier process open until what it promised is stored, however long that takes", async () => {
  const clock = new ManualClock(0, false);
  const slice = { id: "slice", accountId: "account", granted: 100, unspent: 100 };
  const closed: string[] = [];
  const store = {
    shared: true,
    identify: async () => "database",
    epochs: async () => [],
    enter: async () => ({ epoch: 2, adopted: [slice], adoptedBudgets: [] }),
    openSlices: async ({ after = "" }) => (closed.length === 0 && after < slice.accountId ? [slice] : []),
    close: async (ids: readonly string[]) => void closed.push(...ids),
    acquire: async () => new Map(),
  } as unknown as LedgerStore;
  const parts = { store, clock, logger: silentLogger };
  const outage = new Outage(parts, "away", "back");
  const wallets = new WalletCache({ ...parts, outage } as unknown as ConstructorParameters<typeof WalletCache>[0]);
  const stored = Promise.withResolvers<"settled">();
  const charge = { requestId: "request", runId: "run", accountId: "account", lines: [] } as unknown as Charge;
  const recovered = recover({
    ...parts,
    wallets,
    journal: { ...noJournal, read: async () => ({ epoch: 1, charges: [charge], running: [] }) },
    settler: { recover: () => stored.promise } as unknown as Settler,
    budgets: { adopt() {}, closeSlices: async () => {} },
    debts: { payAll: async () => {} },
    beat: async () => {},
  });
  await clock.advanceAsync(0);
  await clock.advanceAsync(11_000); // it waits for 10 s at most
  await recovered;
  expect(await wallets.unknownSlices()).toEqual([]);
  await wallets.audit();
  expect(closed).toEqual([]);
  stored.resolve("settled");
  await clock.advanceAsync(1000);
  expect(closed).toEqual(["slice"]);
});
