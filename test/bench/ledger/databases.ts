import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { startPostgres } from "../../../scripts/test-services/postgres.ts";

/** Stores of the ledger. */
export const stores = ["SQLite", "PostgreSQL"] as const;
export type Store = (typeof stores)[number];

/** What keeps a store's databases. */
export interface Databases {
  /** The server's processes; none where the database is a file. */
  readonly processes: readonly number[];
  /** Makes an empty database and returns its URL. */
  create(name: string): Promise<string>;
  stop(): Promise<void>;
}

/** Files below a directory, or a PostgreSQL server with its default settings: what is committed is on the disk. */
export async function openDatabases(store: Store, directory: string): Promise<Databases> {
  if (store === "SQLite") {
    return { processes: [], create: async (name) => `sqlite:${join(directory, `${name}.db`)}`, stop: async () => {} };
  }
  const server = await startPostgres();
  const client = new Client({ connectionString: server.url });
  await client.connect();
  return {
    processes: await serverProcesses(client),
    async create(name) {
      await client.query(`drop database if exists ${name} with (force)`);
      await client.query(`create database ${name}`);
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      return url.href;
    },
    async stop() {
      await client.end();
      await server.stop();
    },
  };
}

/** The server's first process, where it runs on this machine; the others are its children. */
async function serverProcesses(client: Client): Promise<number[]> {
  const { rows } = await client.query<{ data_directory: string }>("show data_directory");
  try {
    return [Number.parseInt(readFileSync(join(rows[0]?.data_directory ?? "", "postmaster.pid"), "utf8"), 10)];
  } catch {
    return [];
  }
}
