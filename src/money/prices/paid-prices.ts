import type { PaidPrice } from "#gen/tollgate/metering/v1/price_pb.js";
import { readSum, sumColumns, textColumns } from "#src/storage/reads/exact-sum.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { LockedPrices } from "../model/prices/own-prices.ts";
import type { PriceBook } from "./price-book.ts";

/**
 * Unspent money by the prices of its lots: that of the lots less what their open slices have spent, as a balance
 * is counted.
 */
const unspentMoney = `
  select lots.version, lots.own, lots.count, ${textColumns("unspent", "lots")}, ${textColumns("lent", "slices")}
  from (select price_version_id as version, own_prices_id as own, count(*) as count,
      ${sumColumns("granted - spent - refunded - expired", "unspent")}
    from lot where granted > spent + refunded + expired group by price_version_id, own_prices_id) lots
  left join (select lot.price_version_id as version, lot.own_prices_id as own, ${sumColumns("slice.spent", "lent")}
    from slice join lot on lot.id = slice.lot_id where slice.open
    group by lot.price_version_id, lot.own_prices_id) slices
    on slices.version = lots.version and (slices.own = lots.own or slices.own is null and lots.own is null)
  order by lots.version, lots.own`;

const readPrices = ({ version, own }: Row): LockedPrices => ({
  priceVersion: Number(version),
  ownPrices: own === null ? null : String(own),
});

/** The unspent money that pays the same rates. */
interface Paying {
  readonly input: number;
  readonly output: number;
  readonly unspent: bigint;
  readonly lots: bigint;
}

/**
 * The prices that the money of all accounts pays for a model, the price with most money first. Versions with the same
 * rates are one price.
 */
export async function listPaidPrices(storage: Storage, book: PriceBook, model: string): Promise<PaidPrice[]> {
  const prices = new Map<string, Paying>();
  const snapshot = await storage.snapshot();
  try {
    for await (const rows of snapshot.rows(unspentMoney)) {
      for (const row of rows) {
        const rates = await book.load(readPrices(row), model);
        const key = `${rates.input} ${rates.output}`;
        const before = prices.get(key) ?? { ...rates, unspent: 0n, lots: 0n };
        const unspent = before.unspent + readSum(row, "unspent") - readSum(row, "lent");
        prices.set(key, { ...before, unspent, lots: before.lots + BigInt(String(row.count)) });
      }
    }
  } finally {
    await snapshot.close();
  }
  return [...prices.values()]
    .sort((one, other) => (one.unspent < other.unspent ? 1 : -1))
    .map(({ input, output, unspent, lots }) => ({
      $typeName: "tollgate.metering.v1.PaidPrice",
      inputPicoUsdPerToken: BigInt(input),
      outputPicoUsdPerToken: BigInt(output),
      unspentPicoUsd: String(unspent),
      lots,
    }));
}
