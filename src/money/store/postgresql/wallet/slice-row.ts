import type { LeasedSlice } from "../../../model/store/wallet.ts";

/** A time as milliseconds since the epoch. */
export const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;

/** The columns of a lot that its slices need. */
export const lotColumns = `kind, priority, price_version_id, own_prices_id, ${ms("lot.created_at")} as created_at, ${ms("lot.expires_at")} as expires_at`;

/** A slice with its lot, as statements return it. */
export interface SliceRow {
  readonly id: string;
  readonly lot_id: string;
  readonly account_id: string;
  readonly kind: LeasedSlice["kind"];
  readonly priority: number;
  readonly price_version_id: number;
  readonly own_prices_id: string | null;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly granted: string;
  readonly spent: string;
}

/** Reads a leased slice. */
export function toSlice(row: SliceRow): LeasedSlice {
  return {
    id: row.id,
    lotId: row.lot_id,
    accountId: row.account_id,
    kind: row.kind,
    priority: row.priority,
    priceVersion: row.price_version_id,
    ownPrices: row.own_prices_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    granted: Number(row.granted),
    spent: Number(row.spent),
  };
}
