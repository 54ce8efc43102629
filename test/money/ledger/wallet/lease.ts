import type { Lease, LeasedSlice } from "#src/money/model/store/wallet.ts";

/** A slice of 1,000 pico-USD that the account paid for. */
export const slice = (more: Partial<LeasedSlice> = {}): LeasedSlice => ({
  ...{
    id: "slice",
    lotId: "lot",
    accountId: "account",
    kind: "paid",
    priority: 50,
    priceVersion: 1,
    ownPrices: null,
    createdAt: 0,
  },
  ...{ expiresAt: undefined, granted: 1000, spent: 0, ...more },
});
/** The store's reply with these slices. */
export const lease = (slices: readonly LeasedSlice[], more: Partial<Lease> = {}): Lease => ({
  ...{
    createdAt: 0,
    paidTotal: 0n,
    paidLeft: 0n,
    unleased: 0n,
    elsewhere: 0n,
    newestPrices: undefined,
    debt: 0n,
    retired: [],
    slices,
    ...more,
  },
});
