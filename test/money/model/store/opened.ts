import { afterEach, beforeEach } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import type { Lease, LeasedSlice } from "#src/money/model/store/wallet.ts";
import { createLedgerStore } from "#src/money/store/create.ts";
import { Lot } from "#src/storage/entities/metering/lot.ts";
import { Slice } from "#src/storage/entities/metering/slice.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import type { Dialect, databases } from "../../databases.ts";
import { type Metering, openMetering } from "../../fixture.ts";

/** What a test has of a core's store on a database of its own. */
export interface Opened {
  readonly coreId: string;
  readonly clock: ManualClock;
  readonly metering: Metering;
  readonly store: LedgerStore;
  /** Leases money of an account. Undefined: there is no such account. */
  lease(accountId: string, least: number, most?: number): Promise<Lease | undefined>;
  leaseOne(accountId: string, amount: number): Promise<LeasedSlice>;
  /** A charge that takes so much of each slice. */
  chargeTo(slices: readonly LeasedSlice[], cost: number, requestId?: string): Charge;
  slice(id: string): Promise<Slice>;
  lots(): Promise<Lot[]>;
}

/** Opens a store for each test of a `describe`. `newDatabase`: that of the file. */
export function openStore(dialect: Dialect, newDatabase: ReturnType<typeof databases>): Opened {
  const coreId = v7();
  let clock: ManualClock;
  let metering: Metering;
  let store: LedgerStore;
  beforeEach(async () => {
    clock = new ManualClock(Date.now());
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
    store = createLedgerStore(metering.storage, systemRandom, coreId);
    await store.enter({ instance: "lock", after: 0 });
  });
  afterEach(async () => {
    await store.end();
    await clock.until(metering.close());
  });

  const lease = async (accountId: string, least: number, most = least) =>
    (await store.acquire([{ accountId, least, most }], clock.now())).get(accountId);
  const leaseOne = async (accountId: string, amount: number): Promise<LeasedSlice> => {
    const slice = (await lease(accountId, amount))?.slices[0];
    if (slice === undefined) {
      throw new Error("nothing was leased");
    }
    return slice;
  };
  const chargeTo = (slices: readonly LeasedSlice[], cost: number, requestId = v7()): Charge => ({
    ...{ requestId, runId: v7(), accountId: slices[0]?.accountId ?? v7(), keyId: "", model: "m" },
    ...{ inputTokens: 1, outputTokens: 1 },
    ...{ cost: cost * slices.length, shortfall: 0, status: "completed", settledAt: clock.now() },
    lines: slices.map(({ id, lotId }) => ({
      ...{ sliceId: id, lotId, inputTokens: 1, outputTokens: 1, inputRate: 1, outputRate: 1, cost },
    })),
  });
  const slice = (id: string) => metering.storage.orm.em.fork().findOneOrFail(Slice, id);
  const lots = () => metering.storage.orm.em.fork().find(Lot, {}, { orderBy: { id: "asc" } });

  return {
    coreId,
    get clock() {
      return clock;
    },
    get metering() {
      return metering;
    },
    get store() {
      return store;
    },
    ...{ lease, leaseOne, chargeTo, slice, lots },
  };
}
