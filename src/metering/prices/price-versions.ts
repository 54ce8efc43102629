import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Clock } from "../../../lib/time/clock.ts";
import { Price, PriceVersion } from "../../storage/entities/price.ts";
import type { Storage } from "../../storage/orm.ts";
import type { Rates } from "../interface.ts";

/** A model's price, live or past. */
export interface PriceRecord {
  readonly model: string;
  readonly live: Rates;
  /** The operator's rates, around which the live ones move. */
  readonly base: Rates;
  readonly pinned: boolean;
  /** The version that introduced it. */
  readonly version: number;
  readonly since: Date;
}

/** A model's row in a version, but for where it stands. */
export type PriceFacts = Omit<Price, "versionId" | "model" | "introducedIn">;

/** The newest version's prices by model. */
export async function readNewest(storage: Storage): Promise<Map<string, PriceRecord>> {
  const em = storage.orm.em.fork();
  const newest = await newestVersion(em);
  const rows = newest === undefined ? [] : await em.find(Price, { versionId: newest.id });
  return new Map((await toRecords(em, rows)).map((record) => [record.model, record]));
}

/** All prices that a model ever had, newest first. */
export async function readHistory(storage: Storage, model: string): Promise<PriceRecord[]> {
  const em = storage.orm.em.fork();
  const rows = await em.find(Price, { model }, { orderBy: { versionId: "desc" } });
  return toRecords(
    em,
    rows.filter((row) => row.introducedIn === row.versionId),
  );
}

/**
 * Publishes a version in which some models' prices are others and all the rest stay as they are.
 * Publishes nothing when nothing changes. The function gets the newest version, and no other is published meanwhile.
 */
export async function publish(
  storage: Storage,
  clock: Clock,
  change: (newest: ReadonlyMap<string, PriceFacts>, publishedAt: Date | undefined) => ReadonlyMap<string, PriceFacts>,
): Promise<void> {
  await storage.orm.em.fork().transactional(async (em) => {
    if (storage.dialect === "postgresql") await em.execute("lock table price_version in share row exclusive mode");
    const newest = await newestVersion(em);
    const rows = newest === undefined ? [] : await em.find(Price, { versionId: newest.id });
    const changed = change(new Map(rows.map((row) => [row.model, row])), newest?.publishedAt);
    if (changed.size === 0) return;

    const versionId = (newest?.id ?? 0) + 1;
    await em.insert(PriceVersion, { id: versionId, publishedAt: new Date(clock.now()) });
    const kept = rows.filter((row) => !changed.has(row.model)).map((row) => ({ ...bare(row), versionId }));
    const made = [...changed].map(([model, facts]) => ({ ...facts, model, versionId, introducedIn: versionId }));
    await em.insertMany(Price, [...kept, ...made]);
  });
}

async function newestVersion(em: SqlEntityManager): Promise<PriceVersion | undefined> {
  const [newest] = await em.find(PriceVersion, {}, { orderBy: { id: "desc" }, limit: 1 });
  return newest;
}

async function toRecords(em: SqlEntityManager, rows: readonly Price[]): Promise<PriceRecord[]> {
  const introducing = await em.find(PriceVersion, { id: { $in: rows.map((row) => row.introducedIn) } });
  const since = new Map(introducing.map((version) => [version.id, version.publishedAt]));
  return rows.map((row) => ({
    model: row.model,
    live: { input: row.input, output: row.output },
    base: { input: row.baseInput, output: row.baseOutput },
    pinned: row.pinned,
    version: row.introducedIn,
    since: since.get(row.introducedIn) ?? new Date(0),
  }));
}

/** The row's values without what the ORM attaches to it. */
function bare(row: Price) {
  const { model, input, output, baseInput, baseOutput, configuredInput, configuredOutput, pinned, introducedIn } = row;
  return { model, input, output, baseInput, baseOutput, configuredInput, configuredOutput, pinned, introducedIn };
}
