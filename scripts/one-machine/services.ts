// PostgreSQL and Redis or Valkey, until the parent process goes. They run apart from it because Ctrl-C, which
// the terminal sends to all of its processes, must not end a database before the cores that write to it.
import { startPostgres } from "../test-services/postgres.ts";
import { startRedis } from "../test-services/redis.ts";

/** What the parent is told once they run. */
export interface ServiceUrls {
  readonly postgres: string;
  readonly redis: string;
}

const postgres = await startPostgres();
const redis = await startRedis();
process.send?.({ postgres: postgres.url, redis: redis.url } satisfies ServiceUrls);
process.once("disconnect", async () => {
  await redis.stop();
  await postgres.stop();
  process.exit(0);
});
