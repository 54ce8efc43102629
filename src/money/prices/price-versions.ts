import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Random } from "#lib/ids/random.ts";
import { formatRate } from "#lib/money/money.ts";
import type { Clock } from "#lib/time/clock.ts";
import { Price, type PriceReason, PriceVersion } from "#src/storage/entities/metering/price.ts";
import type { Announce } from "#src/storage/outbox/announcer.ts";
import { readTime } from "#src/storage/reads/read-entity.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import type { VersionMark } from "../model/prices/version-marks.ts";
import type { Rates } from "../model/rates.ts";

/** A model's price, live or past. */
export interface PriceRecord {
  readonly model: string;
  readonly live: Rates;
  /** The operator's rates, around which the live rates move. */
  readonly base: Rates;
  readonly pinned: boolean;
  /** The version that introduced the price. */
  readonly version: number;
  readonly since: Date;
  /** Null: the price is older than reasons are. */
  readonly reason: PriceReason | null;
  /** The utilisation when the price moved. Null: the price controller did not move it. */
  readonly utilisation: number | null;
}

/** A model's row in a version, without its model and version. */
export type PriceFacts = Omit<Price, "versionId" | "model">;

/** Part of a model's history. */
export interface HistoryPage {
  /** Only versions before this one. Absent: from the newest one. */
  readonly before?: number;
  readonly limit: number;
}

/** The last price of every model ever listed, by model. */
export async function readNewest(storage: Storage): Promise<Map<string, PriceRecord>> {
  const em = storage.orm.em.fork();
  const records = await toRecords(em, await newestRows(em));
  return new Map(records.map((record) => [record.model, record]));
}

/** Past and live prices of a model, newest first. They are read piece by piece: through the ORM a page of 1,000 holds everybody else up. */
export async function readHistory(
  storage: Storage,
  model: string,
  { before, limit }: HistoryPage,
): Promise<PriceRecord[]> {
  const records: PriceRecord[] = [];
  const [earlier, parameters] = before === undefined ? ["", [model]] : ["and version_id < ?", [model, before]];
  const snapshot = await storage.snapshot();
  try {
    const sql = `${historySql} where model = ? ${earlier} order by version_id desc limit ${limit}`;
    for await (const rows of snapshot.rows(sql, parameters)) {
      records.push(...rows.map((row) => toPast(model, row)));
    }
  } finally {
    await snapshot.close();
  }
  return records;
}

const historySql = `
  select version_id, input, output, base_input, base_output, case when pinned then 1 else 0 end as pinned, reason,
    cast(utilisation as text) as utilisation, published_at
  from price join price_version on price_version.id = version_id`;

function toPast(model: string, row: Row): PriceRecord {
  return {
    model,
    live: { input: Number(row.input), output: Number(row.output) },
    base: { input: Number(row.base_input), output: Number(row.base_output) },
    pinned: Number(row.pinned) === 1,
    version: Number(row.version_id),
    since: readTime(row.published_at),
    reason: (row.reason ?? null) as PriceReason | null,
    utilisation: row.utilisation === null ? null : Number(row.utilisation),
  };
}

export interface Dependencies {
  readonly storage: Storage;
  readonly clock: Clock;
  /** Makes the marks of versions. */
  readonly random: Random;
  /** Called with every change. Absent: changes are not announced. */
  readonly announce?: Announce | undefined;
}

/**
 * Publishes a version that changes some models' prices and leaves all others. Publishes nothing when nothing changes.
 * `change` gets the last prices; no other version is published meanwhile. Returns the newest version. Undefined: there is
 * none.
 */
export async function publish(
  { storage, clock, random, announce }: Dependencies,
  change: (newest: ReadonlyMap<string, PriceFacts>, publishedAt: Date | undefined) => ReadonlyMap<string, PriceFacts>,
): Promise<VersionMark | undefined> {
  return inTransaction(storage, async (em) => {
    if (storage.dialect === "postgresql") {
      await em.execute("lock table price_version in share row exclusive mode");
    }
    const newest = await newestVersion(em);
    const rows = await newestRows(em);
    const before = new Map(rows.map((row) => [row.model, row]));
    const changed = change(before, newest?.publishedAt);
    if (changed.size === 0) {
      return newest && { version: newest.id, mark: newest.mark };
    }

    const versionId = (newest?.id ?? 0) + 1;
    const mark = random.uuid();
    await em.insert(PriceVersion, { id: versionId, publishedAt: new Date(clock.now()), mark });
    await em.insertMany(
      Price,
      [...changed].map(([model, facts]) => ({ ...facts, model, versionId })),
    );
    for (const [model, facts] of changed) {
      await announce?.(em, { type: "price.changed", data: describeChange(model, before.get(model), facts, versionId) });
    }
    return { version: versionId, mark };
  });
}

/** The body of a price event, in USD per 1M tokens. */
function describeChange(model: string, before: PriceFacts | undefined, facts: PriceFacts, version: number) {
  const { input, output, pinned } = facts;
  return {
    model,
    version: String(version),
    pinned,
    input: formatRate(BigInt(input)),
    output: formatRate(BigInt(output)),
    input_before: before === undefined ? null : formatRate(BigInt(before.input)),
    output_before: before === undefined ? null : formatRate(BigInt(before.output)),
  };
}

async function newestVersion(em: SqlEntityManager): Promise<PriceVersion | undefined> {
  const [newest] = await em.find(PriceVersion, {}, { orderBy: { id: "desc" }, limit: 1 });
  return newest;
}

/**
 * The newest row of each model. Steps from model to model in the index, so its cost does not depend on the number of
 * versions.
 */
async function newestRows(em: SqlEntityManager): Promise<Price[]> {
  const keys = await em.execute<{ model: string; version_id: number }[]>(`
    with recursive listed (model) as (
      select min(model) from price
      union all select (select min(model) from price where price.model > listed.model) from listed where model is not null)
    select model, (select max(version_id) from price where price.model = listed.model) as version_id
    from listed where model is not null`);
  if (keys.length === 0) {
    return [];
  }
  return em.find(Price, { $or: keys.map(({ model, version_id }) => ({ model, versionId: version_id })) });
}

async function toRecords(em: SqlEntityManager, rows: readonly Price[]): Promise<PriceRecord[]> {
  const versions = await em.find(PriceVersion, { id: { $in: rows.map((row) => row.versionId) } });
  const since = new Map(versions.map((version) => [version.id, version.publishedAt]));
  return rows.map((row) => ({
    model: row.model,
    live: { input: row.input, output: row.output },
    base: { input: row.baseInput, output: row.baseOutput },
    pinned: row.pinned,
    version: row.versionId,
    since: since.get(row.versionId) ?? new Date(0),
    reason: row.reason ?? null,
    utilisation: row.utilisation ?? null,
  }));
}
