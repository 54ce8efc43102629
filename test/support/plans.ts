import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { jest } from "@jest/globals";
import type { SqliteStorage, Storage } from "#src/storage/storage.ts";

/** A query, and the steps in which the database executes it. */
export interface Plan {
  readonly query: string;
  readonly steps: string;
}

/** Runs work and returns the plans of the ORM's queries meanwhile, with full table scans only where unavoidable. */
export async function readPlans(storage: Storage, work: () => Promise<unknown>): Promise<readonly Plan[]> {
  const logger = storage.orm.config.getLogger();
  const asked: { query: string; params: readonly unknown[] }[] = [];
  logger.setDebugMode(["query"]);
  const log = jest.spyOn(logger, "logQuery").mockImplementation(({ query = "", params = [] }) => {
    asked.push({ query, params });
  });
  try {
    await work();
  } finally {
    log.mockRestore();
    logger.setDebugMode(false);
  }
  const plans: Plan[] = [];
  for (const { query, params } of asked.filter(({ query }) => /^select/i.test(query))) {
    plans.push({ query, steps: await explain(storage, query, params) });
  }
  return plans;
}

async function explain(storage: Storage, query: string, params: readonly unknown[]): Promise<string> {
  if (storage.dialect === "sqlite") {
    const rows = await storage.orm.em.fork().execute<{ detail: string }[]>(`explain query plan ${query}`, [...params]);
    return rows.map(({ detail }) => detail).join("\n");
  }
  return storage.orm.em.fork().transactional(async (em) => {
    await em.execute("set local enable_seqscan = off");
    const rows = await em.execute<Record<string, string>[]>(`explain ${query}`, [...params]);
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  });
}

/** A step in which SQLite executes a query. */
export interface SqliteStep {
  readonly parent: number;
  readonly detail: string;
}

/** The steps in which SQLite would execute a query on a file. */
export function explainSqlite({ path }: SqliteStorage, query: string, values: readonly SQLInputValue[] = []) {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return database.prepare(`explain query plan ${query}`).all(...values) as unknown as SqliteStep[];
  } finally {
    database.close();
  }
}

/** Whether a plan scans a whole table. */
export function readsWholeTable({ steps }: Plan): boolean {
  return /Seq Scan|^SCAN (account|lot|slice|api_key|[a-z]\d)\b(?!.*USING)/m.test(steps);
}
