import { copyFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { openJournal } from "#src/money/journal/open-journal.ts";
import { isUnreachable } from "#src/storage/availability/unreachable.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { eventually } from "../../../support/eventually.ts";
import { silentLogger } from "../../../support/loggers.ts";
import { openMetering, request, usd } from "../../fixture.ts";

const directories: string[] = [];
afterAll(() => {
  for (const directory of directories) {
    rmSync(directory, { recursive: true, force: true });
  }
});

/** How a call failed: by the detail that callers get, which what the store threw becomes on its way to them. */
const reasonOf = (asked: Promise<unknown>) =>
  asked.then(
    () => "done",
    (error) => readDetail(error)?.reason ?? (isUnreachable(error) ? Reason.LEDGER_UNAVAILABLE : error),
  );
const tokens = { inputTokens: 10, outputTokens: 10 };

/** Opens the books of a directory with the journal beside them. */
async function open(directory: string) {
  const parts = { clock: systemClock, random: systemRandom, logger: silentLogger };
  const journal = openJournal(join(directory, "cores"), parts);
  const path = join(directory, "tollgate.db");
  const metering = await openMetering({ clock: systemClock, url: `sqlite:${path}`, journal, coreId: journal.coreId });
  return {
    ...metering,
    path,
    usage: async () =>
      (await metering.storage.orm.em.fork().findAll(Usage)).map(({ requestId }) => requestId).toSorted(),
  };
}

async function begin() {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-lost-"));
  directories.push(directory);
  const first = await open(directory);
  const account = await first.account({ paid: 10 * usd });
  await first.close();
  const backup = join(directory, "backup");
  copyFileSync(first.path, backup);
  const metering = await open(directory);
  const hold = (id: string) =>
    metering.ledger.hold(request(account, tokens, { requestId: id }), AbortSignal.timeout(5000));
  (await hold("before")).settle(tokens, "completed");
  await eventually("it is stored", async () => (await metering.usage()).length === 1);
  return { directory, backup, account, metering, hold, path: metering.path };
}

test.each([
  ["the database is moved", ""],
  ["its log is moved", "-wal"],
  ["its lock is moved", ".lock"],
])(
  "when %s nothing new is admitted or acknowledged; once it is back all goes on, and nothing is lost",
  async (_, ending) => {
    const { account, metering, hold, path } = await begin();
    const running = await hold("running");
    renameSync(path + ending, `${path}${ending}.moved`);
    await eventually("it is noticed", () => !metering.ledger.state().admits);
    expect(await reasonOf(hold("new"))).toBe(Reason.LEDGER_UNAVAILABLE);
    const payment = { accountId: account, kind: "paid", amount: usd, reference: "while away" } as const;
    expect(await reasonOf(metering.funds.credit(payment))).toBe(Reason.LEDGER_UNAVAILABLE);
    await running.settle(tokens, "completed");
    expect(metering.ledger.state().backlog).toBe(1);

    renameSync(`${path}${ending}.moved`, path + ending);
    await eventually("it goes on", () => metering.ledger.state().admits && metering.ledger.state().backlog === 0);
    expect(await metering.usage()).toEqual(["before", "running"]);
    await metering.funds.credit(payment);
    await (await hold("after")).settle(tokens, "completed");
    await eventually("it is stored", () => metering.ledger.state().backlog === 0);
    expect(await reconcile(metering.storage)).toMatchObject({ ok: true });
    await metering.close();
  },
  60_000,
);

test("a database that is replaced by a backup gets, at the next start, what ended meanwhile", async () => {
  const { directory, backup, metering, hold, path } = await begin();
  const running = await hold("running");
  renameSync(backup, path);
  await eventually("it is noticed", () => !metering.ledger.state().admits);
  await running.settle(tokens, "completed");
  await expect(metering.storage.snapshot()).rejects.toThrow("was moved, replaced or deleted while it was open");
  await metering.close();

  for (const ending of ["-wal", "-shm"]) {
    rmSync(path + ending, { force: true }); // of the file that was there before
  }
  const again = await open(directory);
  await eventually("the journal is charged", async () => (await again.usage()).join() === "running");
  expect(await reconcile(again.storage)).toMatchObject({ ok: true });
  await again.close();
}, 60_000);

test("a journal that is moved acknowledges nothing until it is back", async () => {
  const { directory, metering, hold } = await begin();
  const running = await hold("running");
  const cores = join(directory, "cores");
  renameSync(cores, `${cores}.moved`);
  await eventually("it is noticed", () => !metering.ledger.state().admits);
  writeFileSync(cores, "another");
  rmSync(cores);
  renameSync(`${cores}.moved`, cores);
  await eventually("it goes on", () => metering.ledger.state().admits);
  await running.settle(tokens, "completed");
  await eventually("it is stored", async () => (await metering.usage()).join() === "before,running");
  await metering.close();
}, 60_000);
