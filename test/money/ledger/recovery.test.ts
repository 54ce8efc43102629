import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { type Journal, noJournal } from "#src/money/journal/journal.ts";
import { openJournal } from "#src/money/journal/open-journal.ts";
import { Lot } from "#src/storage/entities/metering/lot.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { eventually } from "../../support/eventually.ts";
import { silentLogger } from "../../support/loggers.ts";
import { pause } from "../../support/pause.ts";
import { databases, dialects } from "../databases.ts";
import { openMetering, usd } from "../fixture.ts";

const newDatabase = databases();

function startSpender(...args: string[]): ChildProcess {
  return spawn(process.execPath, [join(import.meta.dirname, "spender.ts"), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** Runs a spender until it has settled something, and kills it at some moment after that, in the middle of a long answer. */
async function spendAndDie(url: string, directory: string, account: string, log: string): Promise<void> {
  const spender = startSpender(url, directory, account, log);
  const before = settled(log).size;
  const done = new Promise((resolve) => spender.once("exit", resolve));
  await eventually("three are settled", () => {
    if (spender.exitCode !== null) {
      throw new Error("the spender ended by itself");
    }
    return settled(log).size >= before + 3;
  });
  await pause(Math.random() * 200, "it is killed at any moment");
  await eventually("an answer is far advanced", () => isFarAdvanced(log));
  spender.kill("SIGKILL");
  await done;
}

const read = (log: string, what: string) =>
  new Map(
    readFileSync(log, "utf8")
      .split("\n")
      .map((line) => line.split(" "))
      .filter(([step]) => step === what)
      .map(([, id = "", tokens]) => [id, Number(tokens)]),
  );
/** Whether some running request has counted so much that the journal has surely noted it. */
function isFarAdvanced(log: string): boolean {
  const done = settled(log);
  return [...counted(log)].some(([id, tokens]) => tokens >= 900 && !done.has(id));
}

const settled = (log: string) => read(log, "settled");
const counted = (log: string) => read(log, "counted");

describe.each(dialects)("%s", (dialect) => {
  test("a killed core loses no acknowledged charge, leaks no hold, and bills the rest at most as counted", async () => {
    const url = await newDatabase(dialect);
    const directory = mkdtempSync(join(tmpdir(), "tollgate-recovery-"));
    const log = join(directory, "log");
    writeFileSync(log, "");
    const first = await openMetering({ url, clock: systemClock });
    const account = await first.account({ paid: 10 * usd });
    await first.close();

    for (let times = 0; times < 3; times++) {
      await spendAndDie(url, directory, account, log);
    }

    const journal = openJournal(directory, { clock: systemClock, random: systemRandom, logger: silentLogger });
    const after = await openMetering({ url, clock: systemClock, journal, coreId: journal.coreId });
    const receipts = new Map(
      (await after.storage.orm.em.fork().findAll(Usage)).map((usage) => [usage.requestId, usage]),
    );
    for (const [id, tokens] of settled(log)) {
      expect(receipts.get(id)).toMatchObject({ outputTokens: tokens, inputTokens: 90, status: "completed" });
    }
    const recovered = [...receipts.values()].filter((usage) => usage.status === "recovered");
    expect(recovered.length).toBeGreaterThan(0);
    for (const { requestId, outputTokens, shortfall } of recovered) {
      const known = counted(log).get(requestId) ?? Number.NaN;
      expect(outputTokens).toBeLessThanOrEqual(known);
      expect(known - outputTokens).toBeLessThanOrEqual(256 + 5000); // 50 tokens every 10 ms: at most a second's worth
      expect(shortfall).toBe(0);
    }
    expect(await reconcile(after.storage)).toMatchObject({ ok: true, debtPicoUsd: "0" });
    expect(after.ledger.held(account)).toBe(0);
    await after.ledger.close();
    expect(await after.storage.orm.em.fork().findAll(Lot)).toMatchObject([{ leased: 0 }]);
    await after.storage.close();
    rmSync(directory, { recursive: true, force: true });
  }, 120_000);

  test("a start goes on from the epoch that its journal has, though a failover has lost it", async () => {
    const begun: number[] = [];
    const journal: Journal = {
      ...noJournal,
      read: async () => ({ epoch: 41, charges: [], running: [] }),
      begin: ({ epoch }) => void begun.push(epoch),
    };
    const metering = await openMetering({ url: await newDatabase(dialect), clock: systemClock, journal });
    expect(begun).toEqual([42]);
    await metering.close();
  });

  test("a core that dies between a commit and its acknowledgement has charged once", async () => {
    const url = await newDatabase(dialect);
    const directory = mkdtempSync(join(tmpdir(), "tollgate-recovery-"));
    const log = join(directory, "log");
    writeFileSync(log, "");
    const first = await openMetering({ url, clock: systemClock });
    const account = await first.account({ paid: 10 * usd });
    await first.close();

    const spender = startSpender(url, directory, account, log, "5");
    await once(spender, "exit");
    expect(spender.signalCode).toBe("SIGKILL");

    const journal = openJournal(directory, { clock: systemClock, random: systemRandom, logger: silentLogger });
    const after = await openMetering({ url, clock: systemClock, journal, coreId: journal.coreId });
    const receipts = await after.storage.orm.em.fork().findAll(Usage);
    const unacknowledged = receipts.filter(
      ({ requestId, status }) => status === "completed" && !settled(log).has(requestId),
    );
    if (dialect === "postgresql") {
      expect(unacknowledged.length).toBeGreaterThan(0); // on SQLite the journal had acknowledged them before the commit
    }
    const charged = new Set(receipts.map(({ requestId }) => requestId));
    expect([...settled(log).keys()].filter((requestId) => !charged.has(requestId))).toEqual([]);
    const spent = receipts.reduce(
      (sum, { inputTokens, outputTokens }) => sum + inputTokens * 200_000 + outputTokens * 250_000,
      0,
    );
    expect(await reconcile(after.storage)).toMatchObject({ ok: true, spentPicoUsd: String(spent), debtPicoUsd: "0" });
    expect(after.ledger.held(account)).toBe(0);
    await after.ledger.close();
    expect(await after.storage.orm.em.fork().findAll(Lot)).toMatchObject([{ leased: 0, spent }]);
    await after.storage.close();
    rmSync(directory, { recursive: true, force: true });
  }, 60_000);
});
