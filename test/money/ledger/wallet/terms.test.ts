import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { readReceipts } from "#src/money/books/receipts/receipts.ts";
import { openJournal } from "#src/money/journal/open-journal.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../../databases.ts";
import { type Metering, never, openMetering, request, testModel, usd } from "../../fixture.ts";
import { noArchives } from "../../no-archives.ts";

// A request pays no more than the rates that it was admitted at, whatever prices and lots do meanwhile.

const out = 250_000;
const dear = { input: 900_000, output: 900_000 };
const newDatabase = databases();
const receiptOf = async ({ storage }: Metering, requestId: string): Promise<Receipt> => {
  const [receipt] = await readReceipts(storage, requestId, undefined, noArchives);
  if (receipt === undefined) {
    throw new Error("no receipt");
  }
  return receipt;
};
const output = (outputTokens: number) => ({ inputTokens: 0, outputTokens });

describe.each(dialects)("%s", (dialect) => {
  const clock = new ManualClock(Date.now());
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const prove = async (metering: Metering) =>
    expect(await clock.until(reconcile(metering.storage, metering.ledger))).toMatchObject({ ok: true, findings: [] });
  const pay = (metering: Metering, accountId: string, kind: "free" | "paid", amount: number) =>
    clock.until(metering.funds.credit({ accountId, kind, amount, reference: v7() }));

  test("dearer money that is spent first arrives in the middle: it pays at the rates of the admission", async () => {
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const account = await metering.account({ paid: usd });
    const wanted = request(account, output(usd / out));
    const hold = await clock.until(metering.ledger.hold(wanted, never));
    await metering.prices.set(testModel, dear);
    await pay(metering, account, "free", usd / 100);
    await clock.until(hold.settle(output(usd / out), "completed"));
    const { costPicoUsd, shortfallPicoUsd, lines } = await receiptOf(metering, wanted.requestId);
    expect([costPicoUsd, shortfallPicoUsd]).toEqual([BigInt(usd), 0n]);
    expect(lines.every((line) => line.outputPicoUsdPerToken === BigInt(out))).toBe(true);
    expect(await metering.funds.statement(account)).toMatchObject({ balance: BigInt(usd / 100), debt: 0n });
    await prove(metering);
    await clock.until(metering.close());
  });

  test("what no lot can pay has a line of its own, at the rates of the admission", async () => {
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const account = await metering.account({ free: 100 * out + 7 });
    const wanted = request(account, output(100));
    const hold = await clock.until(metering.ledger.hold(wanted, never));
    await metering.prices.set(testModel, dear);
    await clock.until(hold.settle({ inputTokens: 0, outputTokens: 130 }, "completed"));
    const receipt = await receiptOf(metering, wanted.requestId);
    expect(receipt).toMatchObject({ costPicoUsd: BigInt(130 * out), shortfallPicoUsd: BigInt(30 * out - 7) });
    expect(receipt.lines).toMatchObject([
      { outputTokens: 100n, costPicoUsd: BigInt(100 * out + 7) },
      {
        lotId: "",
        inputTokens: 0n,
        outputTokens: 30n,
        outputPicoUsdPerToken: BigInt(out),
        costPicoUsd: receipt.shortfallPicoUsd,
      },
    ]);
    await prove(metering);
    await clock.until(metering.close());
  });

  test("a process that died leaves the terms in its journal; the next one charges by them", async () => {
    const directory = mkdtempSync(join(tmpdir(), "tollgate-terms-"));
    const url = await newDatabase(dialect);
    const random = systemRandom;
    const dying = openJournal(directory, { clock, random, logger });
    const lastMoments = new ManualClock(Date.now());
    const before = await openMetering({ clock: lastMoments, url, journal: dying, coreId: dying.coreId });
    const account = await before.account({ paid: usd });
    const wanted = request(account, output(6000));
    const hold = await lastMoments.until(before.ledger.hold(wanted, never));
    hold.progress(output(6000));
    await lastMoments.advanceAsync(1100);
    await before.prices.set(testModel, dear);
    await pay(before, account, "free", usd);
    await dying.close(); // what is in the file now is all that is left
    await before.store.end();
    await before.storage.close();

    const journal = openJournal(directory, { clock, random, logger });
    const after = await openMetering({ clock, url, journal, coreId: journal.coreId });
    const receipt = await receiptOf(after, wanted.requestId);
    expect(receipt).toMatchObject({ outputTokens: 6000n, costPicoUsd: BigInt(6000 * out), shortfallPicoUsd: 0n });
    await prove(after);
    await clock.until(after.close());
    rmSync(directory, { recursive: true, force: true });
  });
});

test("a core that slept past its lease charges 6,000 tokens at what they were admitted at", async () => {
  const clock = new ManualClock(Date.now());
  const url = await newDatabase("postgresql");
  const sleeping = await openMetering({ clock, url });
  const account = await sleeping.account({ free: 6000 * out });
  const wanted = request(account, output(6000));
  const hold = await clock.until(sleeping.ledger.hold(wanted, never));
  const awake = await openMetering({ clock, url });
  await sleeping.storage.orm.em.fork().execute("update slice set epoch = epoch + 1"); // no longer its own
  await sleeping.storage.orm.em.fork().execute("update lot set leased = 0, spent = granted");
  await sleeping.prices.set(testModel, dear);
  await clock.until(hold.settle(output(6000), "completed"));
  const receipt = await receiptOf(sleeping, wanted.requestId);
  expect(receipt).toMatchObject({ costPicoUsd: BigInt(6000 * out), shortfallPicoUsd: BigInt(6000 * out) });
  expect(receipt.lines).toMatchObject([{ lotId: "", outputTokens: 6000n, outputPicoUsdPerToken: BigInt(out) }]);
  await clock.until(awake.close());
  await clock.until(sleeping.close());
});
