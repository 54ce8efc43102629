// Runs every check and test: `npm test`. Arguments go to jest, and then only jest runs:
// `npm test -- test/money`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkGenerated } from "./check-generated.ts";
import { maxWorkers } from "./jest/max-workers.ts";
import { startPostgres } from "./test-services/postgres.ts";
import { postgresPrograms } from "./test-services/postgres-programs.ts";
import { startPostgresql, workerPortsVariable } from "./test-services/postgres-server.ts";
import { makeTemplate, schemaFile, templateVariable } from "./test-services/postgres-template.ts";
import { buildProgram } from "./test-services/program.ts";
import { programVariable } from "./test-services/program-variable.ts";
import { startRedis } from "./test-services/redis.ts";
import { schemaVariable } from "./test-services/schema-variable.ts";
import { addSchemas } from "./test-services/schemas.ts";
import { makeTemporaryFolder } from "./test-services/temporary-folder.ts";
import { exitAsSet } from "./test-services/workarounds/embedded-postgres.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const selected = process.argv.slice(2);

/** Runs a command; its output comes as it is written, or in one piece when others run beside it, which have the processor first. */
async function run(command: string, args: string[], stdio: "inherit" | "pipe", env = process.env): Promise<void> {
  const title = `> ${command} ${args.join(" ")}`;
  if (stdio === "inherit") {
    console.log(title);
  }
  const child = spawn(command, args, { cwd: root, env, stdio: ["inherit", stdio, stdio] });
  if (stdio === "pipe" && child.pid !== undefined) {
    setPriority(child.pid, constants.priority.PRIORITY_LOW);
  }
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (data: Buffer) => output.push(data));
  }
  const [status] = (await once(child, "close")) as [number | null];
  if (stdio === "pipe") {
    console.log(`${title}\n${Buffer.concat(output).toString()}`.trimEnd());
  }
  if (status !== 0) {
    process.exitCode = status ?? 1;
  }
}

/** Runs the checks that need no service, side by side. */
async function checkSources(): Promise<void> {
  await Promise.all([
    run("npm", ["run", "--silent", "lint"], "pipe"),
    run("npm", ["run", "--silent", "typecheck"], "pipe"),
    checkGenerated(root),
  ]);
}

await run("npm", ["run", "--silent", "install:llama"], "pipe");
const temporary = await makeTemporaryFolder();
process.env.TMPDIR = temporary.path;
const programs = postgresPrograms();
const [template, program] = await Promise.all([makeTemplate().then(addSchemas), buildProgram()]);
process.env[templateVariable] = template.directory;
const postgres = await startPostgres("fsync=off");
const servers = await Promise.all(Array.from({ length: maxWorkers }, () => startPostgresql()));
const redis = await startRedis();
try {
  const env = {
    ...process.env,
    // Threads and programs from the sources start in half the CPU.
    NODE_COMPILE_CACHE: join(temporary.path, "compiled"),
    [programVariable]: program.launcher,
    [schemaVariable]: schemaFile(template.directory),
    TOLLGATE_TEST_POSTGRES_PROGRAMS: programs,
    TOLLGATE_TEST_POSTGRES_URL: postgres.url,
    [workerPortsVariable]: servers.map(({ port }) => port).join(),
    TOLLGATE_TEST_REDIS_URL: redis.url,
  };
  const checks = selected.length === 0 ? checkSources() : undefined;
  await Promise.all([run("npm", ["run", "--silent", "jest", "--", ...selected], "inherit", env), checks]);
} finally {
  await redis.stop();
  await postgres.stop();
  await Promise.all(servers.map((server) => server.stop()));
  await template.remove();
  await program.remove();
  await temporary.remove();
}

exitAsSet();
