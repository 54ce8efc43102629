import { createHash } from "node:crypto";
import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Random } from "../../../lib/ids/random.ts";
import { Price, PriceVersion } from "../../storage/entities/metering/price.ts";
import { newestRows } from "../prices/price-versions.ts";

/** The rates of a model in one price version, from the database that the account left. */
interface PaidRate {
  readonly version: number;
  readonly model: string;
  readonly input: number;
  readonly output: number;
}

/**
 * Maps each price version that moved lots have in the other database to a version here with the same rates. Each
 * database numbers its own versions. When no version here has the same rates, one is published and at once replaced by
 * the live prices, both in this transaction, so that nobody buys at it.
 */
export async function findVersions(
  em: SqlEntityManager,
  payload: string,
  parts: { readonly now: Date; readonly random: Random },
): Promise<Record<string, number>> {
  const { rates } = JSON.parse(payload) as { rates: PaidRate[] };
  const found: Record<string, number> = {};
  if (rates.length > 0) {
    await em.execute("lock table price_version in share row exclusive mode");
  }
  for (const [version, own] of Map.groupBy(rates, (rate) => rate.version)) {
    found[version] = await findVersion(em, own, parts);
  }
  return found;
}

async function findVersion(
  em: SqlEntityManager,
  rates: readonly PaidRate[],
  { now, random }: { readonly now: Date; readonly random: Random },
): Promise<number> {
  const [newest] = await em.find(PriceVersion, {}, { orderBy: { id: "desc" }, limit: 1 });
  const live = new Map((await newestRows(em)).map((row) => [row.model, row]));
  const others = rates.filter(({ model, input, output }) => {
    const row = live.get(model);
    return row !== undefined && (row.input !== input || row.output !== output);
  });
  const last = newest?.id ?? 0;
  if (others.length === 0) {
    return last;
  }
  const mark = markOf(rates);
  const before = await em.findOne(PriceVersion, { mark });
  if (before !== null) {
    return before.id;
  }
  const facts = { reason: null, utilisation: null };
  await em.insert(PriceVersion, { id: last + 1, publishedAt: now, mark });
  await em.insert(PriceVersion, { id: last + 2, publishedAt: now, mark: random.uuid() });
  for (const { model, input, output } of others) {
    const row = copyFacts(live.get(model) as Price);
    await em.insert(Price, { ...row, ...facts, model, input, output, versionId: last + 1 });
    await em.insert(Price, { ...row, model, versionId: last + 2 });
  }
  return last + 1;
}

/** A name for a list of rates. */
function markOf(rates: readonly PaidRate[]): string {
  const list = rates.map(({ model, input, output }) => [model, input, output]);
  list.sort(([one = ""], [other = ""]) => (one < other ? -1 : 1));
  return `moved ${createHash("sha256").update(JSON.stringify(list)).digest("hex")}`;
}

function copyFacts(row: Price): Omit<Price, "versionId" | "model"> {
  const { input, output, baseInput, baseOutput, configuredInput, configuredOutput, pinned, reason, utilisation } = row;
  return {
    ...{ input, output, baseInput, baseOutput, configuredInput, configuredOutput, pinned },
    ...{ reason: reason ?? null, utilisation: utilisation ?? null },
  };
}
