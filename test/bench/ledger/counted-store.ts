import type { Pool } from "pg";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";

/** What the ledger has asked of its store so far. */
export interface Counts {
  /** Calls that write, each of them one transaction. */
  commits: number;
  /** Answers to any call. */
  answers: number;
  /** Messages to a database server that wait for its answer; none where the database is a file. */
  roundTrips: number;
  /** Charges that the store has taken. */
  settled: number;
}

const writing: readonly PropertyKey[] = ["enter", "acquire", "settle", "giveBack", "close", "reap"];

/** Counts what the ledger asks of its store. */
export function countCalls(store: LedgerStore, counts: Counts): LedgerStore {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") {
        return value;
      }
      const method = value.bind(target);
      if (name === "isViolation") {
        return method;
      }
      return async (...parameters: unknown[]) => {
        if (writing.includes(name)) {
          counts.commits++;
        }
        try {
          return await method(...parameters);
        } finally {
          counts.answers++;
        }
      };
    },
  });
}

/** Counts what a pool's connections send. */
export function countRoundTrips(pool: Pool, counts: Counts): void {
  pool.on("connect", (client) => {
    const query = client.query.bind(client) as (...parameters: unknown[]) => unknown;
    client.query = ((...parameters: unknown[]) => {
      counts.roundTrips++;
      return query(...parameters);
    }) as typeof client.query;
  });
}
