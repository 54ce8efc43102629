import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { dayMs } from "#lib/time/days.ts";
import { accountSums } from "#src/money/books/proof/account-sums.ts";
import { rulesOf } from "#src/money/books/proof/rules/rules.ts";
import { everything, inScope, type Scope } from "#src/money/books/proof/scope.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { makeDays } from "#src/storage/postgresql/days.ts";
import type { PostgresqlStorage, SqliteStorage } from "#src/storage/storage.ts";
import { explainSqlite } from "../../../support/plans.ts";
import { databases } from "../../databases.ts";

const newDatabase = databases();

/** A step of a plan of PostgreSQL. */
interface Step {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "CTE Name"?: string;
  readonly Plans?: readonly Step[];
}

const today = Math.floor(Date.now() / dayMs) * dayMs;
/** A few ten thousand receipts of one account and a month, two lines each, from so many lots that a receipt is paid by any of them. */
const [lots, receipts, days] = [5000, 30_000, 30];
const seed = (account: string) => `
  insert into account (id, name, name_key, max_keys, created_at, paid_total, debt)
  values ('${account}', '', '', 1, now(), 0, 0);
  insert into price_version (id, published_at) select v, now() from generate_series(1, 20) v;
  insert into price (version_id, model, input, output, base_input, base_output, configured_input, configured_output, pinned)
  select v, 'm' || m, 1, 1, 1, 1, 1, 1, false from generate_series(1, 20) v, generate_series(1, 10) m;
  insert into payment (id, account_id, kind, amount, reference, lot_id, at)
  select uuid(n), '${account}', 'paid', 100, n::text, uuid(n), now() from ids where n <= ${lots};
  insert into lot (id, account_id, kind, priority, granted, spent, leased, refunded, expired, price_version_id, created_at, payment_id)
  select uuid(n), '${account}', 'paid', 2, 100, 0, 0, 0, 0, 1 + n % 20, now(), uuid(n) from ids where n <= ${lots};
  insert into slice (id, lot_id, account_id, core_id, epoch, granted, spent, open)
  select uuid(n), uuid(n), '${account}', uuid(0), 1, 10, 4, false from ids where n <= ${lots};
  insert into usage (request_id, run_id, account_id, key_id, model, input_tokens, output_tokens, cost, shortfall, status, settled_at, max_input_rate, max_output_rate)
  select 'r' || n, run(n), '${account}', '', 'm' || (1 + n % 10), 1, 1, 2, 0, 'completed', to_timestamp(ms(n) / 1000.0), 1, 1 from ids;
  insert into usage_line (request_id, run_id, seq, lot_id, slice_id, input_tokens, output_tokens, input_rate, output_rate, cost)
  select 'r' || n, run(n), seq, uuid(1 + (n + seq) % ${lots}), uuid(1 + (n + seq) % ${lots}), 1 - seq, seq, 1, 1, 1
  from ids, generate_series(0, 1) seq;
  analyze`;

async function fill(storage: PostgresqlStorage): Promise<void> {
  await makeDays(
    storage.pool,
    Array.from({ length: days }, (_, at) => today / dayMs - at),
  );
  const client = await storage.pool.connect();
  try {
    await client.query(`
      create temporary table ids as select n from generate_series(1, ${receipts}) n;
      create function pg_temp.uuid(n bigint) returns uuid language sql as $$ select lpad(to_hex(n), 32, '0')::uuid $$;
      create function pg_temp.ms(n bigint) returns bigint language sql as $$
        select ${today - (days - 1) * dayMs}::bigint + n * ${(days * dayMs) / receipts} $$;
      create function pg_temp.run(n bigint) returns uuid language sql as $$
        select (lpad(to_hex(pg_temp.ms(n)), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid $$;
      ${seed(v7()).replaceAll(/\b(uuid|ms|run)\(/g, "pg_temp.$1(")}`);
  } finally {
    client.release(true);
  }
}

const tables = /^(usage|usage_line|receipt|line|lot|slice)(_\d{8})?$/;

/** The tables of receipts and lots that a step reads, itself or below it: stored ones, and those that a query names. */
const readsOf = (step: Step): string[] => [
  ...[step["Relation Name"], step["CTE Name"]].flatMap((name) => tables.exec(name ?? "")?.[1] ?? []),
  ...(step.Plans ?? []).flatMap(readsOf),
];

/** What a subquery reads that is one reading of a table. */
const unwrapped = (step: Step): Step =>
  /^(Subquery Scan|Limit)/.test(step["Node Type"]) && step.Plans?.[0] !== undefined ? unwrapped(step.Plans[0]) : step;

/** Whether an index finds rows. The tables of days to come have no rows, and need none. */
function isFound(step: Step): boolean {
  const { "Node Type": type, Plans = [] } = unwrapped(step);
  return type === "Append" ? Plans.some(isFound) : /^(Index|Bitmap|Memoize)/.test(type);
}

/** The joins that compare each receipt or lot with each row of another table: no index finds that table's rows. */
function comparisons(step: Step): string[] {
  const [, inner] = step.Plans ?? [];
  const isComparison = step["Node Type"] === "Nested Loop" && (inner === undefined || !isFound(inner));
  const own = isComparison ? [[...new Set(readsOf(step))].join(" with ")] : [];
  return [...own, ...(step.Plans ?? []).flatMap(comparisons)].filter((join) => join !== "");
}

const open: Scope = { sealed: [{ from: today - 30 * dayMs, to: today }], disbelieved: [5] };
/** All receipts, those of open days, the newest of them, and those of a span. */
const scopes: readonly Scope[] = [
  everything,
  open,
  { ...open, receipts: { from: today + 1000 } },
  { sealed: [], disbelieved: [], within: { from: today - dayMs, to: today } },
];

const queriesOf = (dialect: "postgresql" | "sqlite") => [
  accountSums,
  ...scopes.flatMap((scope) =>
    rulesOf(dialect).flatMap(({ sql, addends }) => [
      `${inScope(sql, scope, dialect)} order by 1 limit 100`,
      ...(addends === undefined ? [] : [inScope(addends, scope, dialect)]),
    ]),
  ),
];

describe("no rule compares receipts with lots", () => {
  test("postgresql", async () => {
    const storage = (await openStorage(await newDatabase("postgresql"))) as PostgresqlStorage;
    await fill(storage);
    const snapshot = await storage.snapshot("tables");
    for (const sql of queriesOf("postgresql")) {
      const rows = await snapshot.few(`explain (format json) ${sql}`);
      const explained = rows.flatMap((row) => row["QUERY PLAN"] as { Plan: Step }[]);
      expect(explained).toHaveLength(1);
      expect({ sql, compared: explained.flatMap(({ Plan }) => comparisons(Plan)) }).toEqual({ sql, compared: [] });
    }
    await snapshot.close();
    await storage.close();
  }, 60_000);

  test("sqlite", async () => {
    const storage = (await openStorage(await newDatabase("sqlite"))) as SqliteStorage;
    for (const sql of queriesOf("sqlite")) {
      // Of the tables of one join, all but the outermost must be searched.
      const scans = explainSqlite(storage, sql);
      const joins = Map.groupBy(
        scans.filter(({ detail }) => detail.startsWith("SCAN ") && !detail.includes("CONSTANT")),
        ({ parent }) => parent,
      );
      const compared = [...joins.values()].filter(
        (join) => join.length > 1 && join.some(({ detail }) => /^SCAN (usage|usage_line|lot|slice)\b/.test(detail)),
      );
      expect({ sql, compared }).toEqual({ sql, compared: [] });
    }
    await storage.close();
  });
});
