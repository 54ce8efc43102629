import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { systemRandom } from "#lib/ids/random.ts";
import { dayMs, dayName } from "#lib/time/days.ts";
import { Sealer } from "#src/money/books/seals/sealer.ts";
import { Account } from "#src/storage/entities/account.ts";
import type { Storage } from "#src/storage/storage.ts";
import { buildProgram } from "../../../scripts/test-services/program.ts";
import { coreSecrets } from "../core-secrets.ts";
import { openDatabases } from "../ledger/databases.ts";
import { usage } from "../measure/cpu.ts";
import { spread } from "../report/statistics.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { FilledDays, today } from "./fill-days.ts";
import { complaints, hurried, openServer } from "./stage.ts";

const days = 10;
/** Credits that have money. */
const credits = 10_000;
/** Has a process tell at its end, on its fourth stream, the most memory that it had, and the CPU time that it used. */
const tellUse = `data:text/javascript,import{writeSync}from"node:fs";process.on("exit",()=>writeSync(3,JSON.stringify(process.resourceUsage())))`;

/** What a customer with a million charges waits for, and how little memory it takes. */
export const statement: Scenario = {
  name: "statement",
  shows:
    "a statement of 1 million receipts and 10,000 credits, written by a core and a command and proved by another one, on PostgreSQL",
  onlyNamed: true,
  async run({ options, directory, progress }) {
    const receipts = options.quick ? 100_000 : 1_000_000;
    const databases = await openDatabases("PostgreSQL", directory);
    const program = await buildProgram();
    try {
      const url = await databases.create("statement");
      progress(`filling ${days} days with ${receipts} receipts`);
      const accountId = await fill(url, receipts);
      const dataDir = join(directory, "data");
      const env = { ...process.env, ...coreSecrets, TOLLGATE_DATA_DIR: dataDir, TOLLGATE_STORAGE_URL: url };
      const core = spawn(process.execPath, [program.launcher, "--port", "0", "--log", "json"], {
        ...{ cwd: directory, env, stdio: ["ignore", "pipe", "inherit"] as const },
      });
      const ended = once(core, "exit");
      for await (const line of createInterface(core.stdout as Readable)) {
        if (line.includes('"msg":"tollgate ready"')) {
          break;
        }
      }
      core.stdout?.resume();
      const file = join(directory, "statement.jsonl");
      const before = { memory: memoryOf(core.pid, "VmRSS"), cpu: cpuOf(core.pid) };
      const [from, to] = [today() - days, today()].map(dayName);
      const span = ["--from", from as string, "--to", to as string];
      progress("writing");
      const written = await run(program.launcher, ["statement", accountId, ...span, "--out", file], env);
      const grown = memoryOf(core.pid, "VmHWM") - before.memory;
      const cpuSeconds = cpuOf(core.pid) - before.cpu;
      core.kill("SIGTERM");
      await ended;
      progress(`proving ${Math.round(statSync(file).size / 2 ** 20)} MiB`);
      const proved = await run(program.launcher, ["verify", file], env);
      const figure = (name: string, unit: string, value: number, limit?: number): Figure => ({
        ...{ scenario: "statement", name: `${name} ${receipts} receipts`, unit, value: spread([value]) },
        better: "lower",
        ...(limit !== undefined && { limit }),
      });
      return {
        figures: [
          figure("writing", "s", written.seconds, 60),
          figure("writing: memory of the command,", "MiB", written.mebibytes, 100),
          figure("writing: what the core grew,", "MiB", grown, 100),
          figure("writing: CPU of the core,", "s", cpuSeconds),
          figure("writing: CPU of the command,", "s", written.cpuSeconds),
          figure("proving", "s", proved.seconds, 60),
          figure("proving: memory of the command,", "MiB", proved.mebibytes, 100),
          figure("proving: CPU of the command,", "s", proved.cpuSeconds),
        ],
      };
    } finally {
      await program.remove();
      await databases.stop();
    }
  },
};

/** Fills and seals days of an account. Returns its id. */
async function fill(url: string, receipts: number): Promise<string> {
  const storage = await openServer(url);
  try {
    const filled = await FilledDays.begin(storage);
    await filled.add({ first: today() - days, count: days, receipts: receipts / days });
    await filled.sumUp();
    await addCredits(storage, filled.accountId);
    const sealer = new Sealer({ storage, clock: hurried, random: systemRandom, logger: complaints });
    for (let day = today() - days; day < today(); day++) {
      await sealer.seal(day);
    }
    return filled.accountId;
  } finally {
    await storage.close();
  }
}

/** Gives the account further credits, and lets it and all its money be as old as its first receipts. */
async function addCredits(storage: Storage, accountId: string): Promise<void> {
  const em = storage.orm.em.fork();
  const createdAt = new Date((today() - days) * dayMs);
  await em.nativeUpdate(Account, accountId, { createdAt });
  await em.execute(
    `insert into payment (id, account_id, kind, amount, reference, lot_id, at)
     select gen_random_uuid(), ?, 'paid', 1000000000000, 'credit ' || n, gen_random_uuid(), now()
     from generate_series(1, ?) n`,
    [accountId, credits],
  );
  await em.execute(
    `insert into lot (id, account_id, kind, priority, granted, spent, leased, refunded, expired, price_version_id, created_at, payment_id)
     select lot_id, account_id, kind, 50, amount, 0, 0, 0, 0, 1, at, id from payment
     where account_id = ? and reference like 'credit %'`,
    [accountId],
  );
  await em.execute(
    `insert into lot_entry (id, lot_id, kind, amount, payment_id, at)
     select gen_random_uuid(), lot_id, 'grant', amount, id, at from payment
     where account_id = ? and reference like 'credit %'`,
    [accountId],
  );
  await em.execute("update payment set at = ? where account_id = ?", [createdAt, accountId]);
  await em.execute("update lot set created_at = ? where account_id = ?", [createdAt, accountId]);
  await em.execute("update lot_entry set at = ? where lot_id in (select id from lot where account_id = ?)", [
    createdAt,
    accountId,
  ]);
}

/** Runs a command to its end. Throws when it fails. */
async function run(launcher: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const since = performance.now();
  const child = spawn(process.execPath, ["--import", tellUse, launcher, ...args], {
    ...{ env, stdio: ["ignore", "ignore", "inherit", "pipe"] as const },
  });
  let used = "";
  (child.stdio[3] as Readable).on("data", (data: Buffer) => {
    used += data;
  });
  const [code] = await once(child, "close");
  if (code !== 0) {
    throw new Error(`tollgate ${args.join(" ")} ended with ${code}`);
  }
  const seconds = (performance.now() - since) / 1000;
  const { maxRSS, userCPUTime, systemCPUTime } = JSON.parse(used) as NodeJS.ResourceUsage;
  return { seconds, mebibytes: maxRSS / 1024, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6 };
}

/** Seconds of CPU that a process has used. */
const cpuOf = (pid: number | undefined) => usage([pid ?? 0]).cpu / 1e6;

/** A figure of a process's memory, in MiB. */
function memoryOf(pid: number | undefined, name: "VmRSS" | "VmHWM"): number {
  const [, kibibytes] = new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) / 1024;
}
