import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import pg from "pg";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { openJournal } from "#src/money/journal/open-journal.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { type PostgresqlInstallation, startInstallation } from "../../../storage/postgresql-programs.ts";
import { hastyClock } from "../../../support/clocks/hasty-clock.ts";
import { eventually } from "../../../support/eventually.ts";
import { silentLogger } from "../../../support/loggers.ts";
import { type Metering, openMetering, usd } from "../../fixture.ts";
import { startToldCore, type ToldCore } from "./told-cores.ts";

// Processes and databases that were taken for dead, and come back.

let installation: PostgresqlInstallation;
let url: string;
const directories: string[] = [];
const cores: ToldCore[] = [];
const opened: Metering[] = [];
beforeAll(async () => {
  installation = await startInstallation();
}, 60_000);
afterAll(async () => {
  await installation[Symbol.asyncDispose]();
  for (const directory of directories) {
    rmSync(directory, { recursive: true, force: true });
  }
}, 60_000);
afterEach(async () => {
  for (const core of cores.splice(0)) {
    await core.kill();
  }
  for (const metering of opened.splice(0)) {
    await metering.close();
  }
}, 60_000);

const folder = () => {
  const made = mkdtempSync(join(tmpdir(), "tollgate-comeback-"));
  directories.push(made);
  return made;
};
const start = async (directory: string) => {
  const core = await startToldCore(url, directory);
  cores.push(core);
  return core;
};
/** A second process of the same core, on a copy of its journal. */
const openCopy = async (directory: string, log: string[] = []) => {
  const copy = folder();
  cpSync(directory, copy, { recursive: true });
  const journal = openJournal(copy, { clock: hastyClock, random: systemRandom, logger: silentLogger });
  return openMetering({ url, clock: hastyClock, journal, coreId: journal.coreId, log });
};
const bank = async () => {
  const metering = await openMetering({ url, clock: systemClock });
  opened.push(metering);
  return metering;
};
const receipts = (metering: Metering) =>
  metering.storage.orm.em.fork().find(Usage, {}, { orderBy: { settledAt: "asc", runId: "asc" } });
/** The receipts once there are so many: what a core has acknowledged may be its journal's promise for a while. */
const storedReceipts = (metering: Metering, count: number) =>
  eventually(`${count} receipts`, async () => {
    const found = await receipts(metering);
    return found.length >= count ? found : undefined;
  });

test("a suspended core whose successor charged 300 tokens comes back, and its 5,000 are charged as 5,000", async () => {
  url = await installation.createDatabase("suspended");
  const metering = await bank();
  const account = await metering.account({ paid: 10 * usd });
  const directory = folder();
  const core = await start(directory);
  await core.tell(`begin ${account} 300`);
  core.signal("SIGSTOP");
  opened.push(await openCopy(directory)); // after 30 s of its clock without a heartbeat
  const labels = '{"app":"told"}';
  expect(await receipts(metering)).toMatchObject([{ inputTokens: 10, outputTokens: 300, status: "recovered", labels }]);
  core.signal("SIGCONT");
  const settled = await core.tell("finish 5000");
  const charged = (await storedReceipts(metering, 2)).sort((a, b) => b.inputTokens - a.inputTokens); // the copy's clock is fast
  expect(charged).toMatchObject([
    { inputTokens: 10, outputTokens: 300, status: "recovered", shortfall: 0, labels },
    { inputTokens: 0, outputTokens: 4700, status: "completed", shortfall: 0, labels },
  ]);
  expect(new Set(charged.map(({ requestId }) => `settled ${requestId}`))).toEqual(new Set([settled]));
  expect((await metering.funds.statement(account)).balance).toBe(BigInt(10 * usd - 10 * 200_000 - 5000 * 250_000));
  expect(await reconcile(metering.storage)).toMatchObject({ ok: true, findings: [], debtPicoUsd: "0" });
}, 180_000);

test("one that comes back while the copy still waits has it refused, and charges by itself", async () => {
  url = await installation.createDatabase("race");
  const metering = await bank();
  const account = await metering.account({ paid: 10 * usd });
  const directory = folder();
  const core = await start(directory);
  await core.tell(`begin ${account} 300`);
  core.signal("SIGSTOP");
  const log: string[] = [];
  const refused = expect(openCopy(directory, log)).rejects.toThrow("is another process's, which runs");
  await eventually("the copy watches", () => log.some((line) => line.includes("waiting for a sign of life")));
  core.signal("SIGCONT");
  await core.tell("finish 5000");
  await refused;
  expect(await storedReceipts(metering, 1)).toMatchObject([
    { inputTokens: 10, outputTokens: 5000, status: "completed" },
  ]);
  expect(await reconcile(metering.storage)).toMatchObject({ ok: true, debtPicoUsd: "0" });
}, 180_000);

test.each(["goes on", "is killed"])(
  "after a restore into the past a core that %s charges what it can, puts the rest aside, and serves",
  async (fate) => {
    const name = fate.replace(" ", "_");
    url = await installation.createDatabase(name);
    const before = await openMetering({ url, clock: systemClock });
    const old = await before.account({ paid: 10 * usd });
    const directory = folder();
    let core = await start(directory);
    await core.tell(`begin ${old} 300`);
    const dump = join(folder(), "dump");
    await installation.run("pg_dump", "--format=custom", `--file=${dump}`, url);
    const young = await before.account({ paid: 10 * usd });
    await core.tell(`begin ${young} 300`);
    await before.close();
    if (fate === "is killed") {
      await core.kill();
    }
    await swap(name, dump);

    if (fate === "is killed") {
      core = await start(directory);
    } else {
      for (let times = 0; times < 2; times++) {
        await core.tell("finish 5000");
      }
    }
    const metering = await bank();
    const tokens = fate === "is killed" ? 300 : 5000;
    expect(await storedReceipts(metering, 1)).toMatchObject([
      { accountId: old, inputTokens: 10, outputTokens: tokens, shortfall: 0 },
    ]);
    const letters = await eventually("a dead letter", async () => {
      const found = await metering.deadLetters.list({ after: undefined, limit: 10 });
      return found.length === 1 ? found : undefined;
    });
    expect(letters).toMatchObject([{ charge: { accountId: young, outputTokens: tokens } }]);
    expect(letters?.[0]?.reason).toContain("There is no account");
    await eventually("it serves", async () => (await core.tell(`begin ${old} 1`)) === "begun");
    await core.tell("finish 7");
    expect((await storedReceipts(metering, 2)).map(({ outputTokens }) => outputTokens)).toEqual([tokens, 7]);
    expect(await reconcile(metering.storage)).toMatchObject({ ok: true, debtPicoUsd: "0" });
  },
  180_000,
);

/** Puts the restored dump in place of the database, whoever uses it. */
async function swap(name: string, dump: string): Promise<void> {
  const restored = await installation.createDatabase(`${name}_restored`);
  await installation.run("pg_restore", "--exit-on-error", "--no-owner", `--dbname=${restored}`, dump);
  const address = new URL(url);
  address.pathname = "/postgres";
  const admin = new pg.Client({ connectionString: address.href });
  await admin.connect();
  try {
    await admin.query(`alter database ${name} allow_connections false`);
    await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
    await admin.query(`alter database ${name} rename to ${name}_lost_${v7().slice(-6)}`);
    await admin.query(`alter database ${name}_restored rename to ${name}`);
  } finally {
    await admin.end();
  }
}
