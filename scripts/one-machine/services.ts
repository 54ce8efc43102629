// PostgreSQL and Redis or Valkey, until the parent process goes. They run apart from it because Ctrl-C, which
// the terminal sends to all of its processes, must not end a database before the cores that write to it.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import pg from "pg";
import { startPostgres } from "../test-services/postgres.ts";
import { startRedis } from "../test-services/redis.ts";

/** The message to the parent once they run. */
export interface ServiceUrls {
  readonly postgres: string;
  readonly redis: string;
  /** Their processes, for whoever wants to break them. */
  readonly processes: { readonly postgres: string; readonly redis: string };
}

async function postgresPid(url: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ data_directory: string }>("show data_directory");
  await client.end();
  const [pid = ""] = (await readFile(join(String(rows[0]?.data_directory), "postmaster.pid"), "utf8")).split("\n");
  return pid;
}

async function redisPid(url: string): Promise<string> {
  const client = new Redis(url);
  const [, pid = ""] = /process_id:(\d+)/.exec(await client.info("server")) ?? [];
  client.disconnect();
  return pid;
}

const postgres = await startPostgres();
const redis = await startRedis();
process.send?.({
  postgres: postgres.url,
  redis: redis.url,
  processes: { postgres: await postgresPid(postgres.url), redis: await redisPid(redis.url) },
} satisfies ServiceUrls);
process.once("disconnect", async () => {
  await redis.stop();
  await postgres.stop();
  process.exit(0);
});
