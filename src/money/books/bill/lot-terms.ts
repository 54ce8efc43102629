import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { StreamUsageRequestSchema, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { readTime } from "#src/storage/reads/read-entity.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { ownRate } from "../../model/prices/own-prices.ts";
import type { LotKind } from "../../model/spending-order.ts";
import type { TimeSpan } from "../proof/scope.ts";
import { streamUsage } from "../receipts/usage.ts";
import type { Movement } from "./movements.ts";

/** The most models whose rates are told of each credit. */
const mostModels = 20;

/** Where a credit came from, and the prices that it locked in. */
export interface LotTerms {
  readonly kind: LotKind;
  readonly at: Date;
  readonly priceVersion: number;
  /** Undefined: it pays the general prices. */
  readonly own: { readonly number: number; readonly discount: number } | undefined;
  /** Its rates of the models that are told, by the model's id. */
  readonly rates: readonly { readonly model: string; readonly input: bigint; readonly output: bigint }[];
}

/** A movement, and the terms of the credit that it brought. */
export type TermedMovement = Movement & { readonly terms: LotTerms | undefined };

/** The models that an account paid most for in a span, ordered by id. */
export async function readModels(storage: Storage, accountId: string, { from, to }: TimeSpan): Promise<string[]> {
  const span = { from: timestampFromMs(from), to: timestampFromMs(to) };
  const groups = { groupBy: [UsageGroup.MODEL], dearest: mostModels, fresh: true };
  const models: string[] = [];
  for await (const { rows } of streamUsage(
    storage,
    create(StreamUsageRequestSchema, { accountId, ...span, ...groups }),
  )) {
    models.push(...rows.map(({ model }) => model));
  }
  return models.sort();
}

/** The terms of some lots, and their rates of models. */
export async function readLotTerms(
  storage: Storage,
  lotIds: readonly string[],
  models: readonly string[],
): Promise<ReadonlyMap<string, LotTerms>> {
  if (lotIds.length === 0) {
    return new Map();
  }
  const em = storage.orm.em.fork();
  const marks = (of: readonly unknown[]) => of.map(() => "?").join();
  const lots = await em.execute<Row[]>(
    `select lot.id, kind, created_at, price_version_id, own_prices_id, number, discount
     from lot left join own_prices on own_prices.id = lot.own_prices_id where lot.id in (${marks(lotIds)})`,
    [...lotIds],
  );
  const rates =
    models.length === 0 ? [] : await em.execute<Row[]>(ratesOf(marks(lotIds), models.length), [...lotIds, ...models]);
  const key = (version: unknown, own: unknown) => `${version} ${own ?? ""}`;
  const ratesBy = Map.groupBy(rates, ({ version, own }) => key(version, own));
  return new Map(
    lots.map((row) => [
      String(row.id),
      {
        kind: row.kind as LotKind,
        at: readTime(row.created_at),
        priceVersion: Number(row.price_version_id),
        own: row.own_prices_id == null ? undefined : { number: Number(row.number), discount: Number(row.discount) },
        rates: (ratesBy.get(key(row.price_version_id, row.own_prices_id)) ?? []).map(({ model, input, output }) => ({
          model: String(model),
          input: BigInt(String(input)),
          output: BigInt(String(output)),
        })),
      },
    ]),
  );
}

/**
 * The rates of models by the prices that lots have locked in: those of their list, or of the first later one that has the
 * model.
 */
const ratesOf = (lots: string, models: number): string => `
  select terms.version, terms.own, listed.model, cast(${ownRate("input")} as text) as input,
    cast(${ownRate("output")} as text) as output
  from (select distinct price_version_id as version, own_prices_id as own from lot where id in (${lots})) terms
  cross join (${Array.from({ length: models }, () => "select cast(? as text) as model").join(" union all ")}) listed
  left join own_prices on own_prices.id = terms.own
  left join own_price on own_price.own_prices_id = terms.own and own_price.model = listed.model
  join price on price.model = listed.model and price.version_id = coalesce(
    (select max(version_id) from price before where before.model = listed.model and before.version_id <= terms.version),
    (select min(version_id) from price after where after.model = listed.model and after.version_id > terms.version))
  order by listed.model`;
