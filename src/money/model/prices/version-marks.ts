import type { Storage } from "#src/storage/storage.ts";
import type { Rates } from "../rates.ts";
import { type LockedPrices, ownRate } from "./own-prices.ts";

/** Identifies a version: one that takes the number of a lost version has another mark. */
export interface VersionMark {
  readonly version: number;
  readonly mark: string;
}

const newestSql = "select id, mark from price_version order by id desc limit 1";

/** The newest version and what money with these prices pays for a model, read at the same moment. */
const ratesSql = `
  select newest.id as version, newest.mark as mark,
    ${ownRate("input")} as input, ${ownRate("output")} as output
  from (${newestSql}) newest
  left join own_prices on own_prices.id = ?
  left join own_price on own_price.own_prices_id = own_prices.id and own_price.model = ?
  left join price on price.model = ? and price.version_id = coalesce(
    (select max(version_id) from price where model = ? and version_id <= ?),
    (select min(version_id) from price where model = ? and version_id > ?))`;

/** Compares two versions by number and mark. */
export function isSameVersion(one: VersionMark | undefined, other: VersionMark | undefined): boolean {
  return one?.version === other?.version && one?.mark === other?.mark;
}

/** The newest version. Undefined: there is none. */
export async function readNewestVersion(storage: Storage): Promise<VersionMark | undefined> {
  const [row] = await storage.orm.em.fork().execute<{ id: number; mark: string }[]>(newestSql);
  return row === undefined ? undefined : { version: row.id, mark: row.mark };
}

/** Returns the given versions that the store still has, with number and mark. */
export async function findThere(storage: Storage, versions: readonly VersionMark[]): Promise<VersionMark[]> {
  const em = storage.orm.em.fork();
  const numbers = versions.map(({ version }) => version);
  const marks = numbers.map(() => "?").join();
  const sql = `select id, mark from price_version where id in (${marks})`;
  const rows = await em.execute<{ id: number; mark: string }[]>(sql, numbers);
  return versions.filter(({ version, mark }) => rows.some((row) => row.id === version && row.mark === mark));
}

interface RatesRow extends VersionMark {
  readonly input: string | number | null;
  readonly output: string | number | null;
}

/**
 * A model's rates for money with these prices, and the newest version at the same moment. Undefined rates: the model
 * was never priced. Own prices that a failover has lost count as none: their lots are lost with them.
 */
export async function readRates(
  storage: Storage,
  { priceVersion, ownPrices }: LockedPrices,
  model: string,
): Promise<{ readonly rates: Rates | undefined; readonly newest: VersionMark | undefined }> {
  const values = [ownPrices, model, model, model, priceVersion, model, priceVersion];
  const [row] = await storage.orm.em.fork().execute<RatesRow[]>(ratesSql, values);
  if (row === undefined) {
    return { rates: undefined, newest: undefined };
  }
  const rates = row.input === null ? undefined : { input: Number(row.input), output: Number(row.output) };
  return { rates, newest: { version: row.version, mark: row.mark } };
}
