import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { dayMs } from "#lib/time/days.ts";
import { rulesOf } from "#src/money/books/proof/rules/rules.ts";
import { inScope, type Scope } from "#src/money/books/proof/scope.ts";
import { DaySeal, SealedSlice } from "#src/storage/entities/metering/seal.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { SqliteStorage, Storage } from "#src/storage/storage.ts";
import { explainSqlite } from "../../../support/plans.ts";
import { databases, dialects } from "../../databases.ts";

const newDatabase = databases();
/** So many days are sealed, each with a slice of its own that is closed. */
const days = 400;
const first = 20_000;
const sealed = [{ from: first * dayMs, to: (first + days) * dayMs }];
/** What the proof of every hour looks at, and what one of everything does, where the receipts of sealed days have left. */
const hourly: Scope = { sealed, disbelieved: [] };
const all: Scope = { ...hourly, allSums: true };

/** An id of a day. */
const idOf = (day: number) => v7({ msecs: day * dayMs + 1000 });

async function start(dialect: (typeof dialects)[number]) {
  const storage = await openStorage(await newDatabase(dialect));
  const em = storage.orm.em.fork();
  const account = v7();
  const seals: DaySeal[] = [];
  const costs: SealedSlice[] = [];
  const [slices, budgets] = [[] as string[], [] as string[]];
  const closed = dialect === "sqlite" ? "0" : "false";
  for (let at = 0; at < days; at++) {
    const day = first + at;
    const [seal, lotSlice, budgetSlice] = [v7(), idOf(day), idOf(day)];
    seals.push({
      ...{ id: seal, number: at + 1, day, receipts: 1, costHigh: 0, costLow: 7 },
      ...{ root: "", chain: "", at: new Date() },
    });
    costs.push({ sealId: seal, sliceId: lotSlice, cost: 7 }, { sealId: seal, sliceId: budgetSlice, cost: 7 });
    slices.push(`('${lotSlice}', '${idOf(day)}', '${account}', '${v7()}', 1, 7, 7, ${closed})`);
    budgets.push(`('${budgetSlice}', '${idOf(first)}', 'day ${day}', '${v7()}', 1, 7, 7, ${closed})`);
  }
  await em.insertMany(DaySeal, seals);
  await em.insertMany(SealedSlice, costs);
  // Their lots and budgets are of no account here, which rules about slices alone do not ask for.
  await em.execute(dialect === "sqlite" ? "pragma foreign_keys = off" : "alter table slice disable trigger all");
  const columns = "core_id, epoch, granted, spent, open) values ";
  await em.execute(`insert into slice (id, lot_id, account_id, ${columns}${slices.join()}`);
  await em.execute(`insert into budget_slice (id, budget_id, window_name, ${columns}${budgets.join()}`);
  const read = (sql: string, scope: Scope) => em.execute<{ id: string }[]>(inScope(sql, scope, dialect));
  return { storage, em, read };
}

/** The tables with a row for each closed slice that a query reads whole, if the database can help it. */
async function wholeReads(storage: Storage, sql: string): Promise<string[]> {
  const tables = "(slice|budget_slice|sealed_slice)";
  if (storage.dialect === "sqlite") {
    const steps = explainSqlite(storage as SqliteStorage, sql).map(({ detail }) => detail);
    return steps.filter((step) => new RegExp(`^SCAN ${tables}$`).test(step));
  }
  return storage.orm.em.fork().transactional(async (em) => {
    await em.execute("set local enable_seqscan = off");
    const rows = await em.execute<Record<string, string>[]>(`explain ${sql}`);
    return rows
      .map((row) => String(row["QUERY PLAN"]))
      .filter((step) => new RegExp(`Seq Scan on ${tables}\\b`).test(step));
  });
}

describe.each(dialects)("%s", (dialect) => {
  test("the proof of every hour compares the slices of 64 days, however many were closed before; one of everything all", async () => {
    const { storage, em, read } = await start(dialect);
    for (const table of ["near_slice", "near_budget_slice"]) {
      const sql = `select id from ${table}`;
      expect([(await read(sql, hourly)).length, (await read(sql, all)).length]).toEqual([64, days]);
    }
    const breaches = async (scope: Scope) => {
      const names = [
        "a slice has spent what its receipt lines say",
        "a budget's slice has spent what its receipts cost",
      ];
      const rules = rulesOf(dialect).filter(({ name }) => names.includes(name));
      const found = await Promise.all(rules.map(({ sql }) => read(String(sql), scope)));
      return found.map((rows) => rows.length);
    };
    expect([await breaches(hourly), await breaches(all)]).toEqual([
      [0, 0],
      [0, 0],
    ]);
    for (const table of ["slice", "budget_slice"]) {
      const spent = `update ${table} set spent = spent - 1 where id in (select id from ${table} order by id`;
      await em.execute(`${spent} limit 3)`);
      await em.execute(`${spent} desc limit 2)`);
    }
    expect([await breaches(hourly), await breaches(all)]).toEqual([
      [2, 2],
      [5, 5],
    ]);
    await storage.close();
  });

  test("no rule of the proof of every hour reads all closed slices", async () => {
    const { storage, em } = await start(dialect);
    await em.execute("analyze");
    for (const { name, sql } of rulesOf(dialect)) {
      const query = `${inScope(sql, hourly, dialect)} order by 1 limit 100`;
      expect({ name, read: await wholeReads(storage, query) }).toEqual({ name, read: [] });
    }
    await storage.close();
  });
});
