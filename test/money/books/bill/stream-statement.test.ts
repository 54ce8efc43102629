import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { GetStatementResponseSchema, StatementPartSchema } from "#gen/tollgate/chat/v1/statement_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { formatUsd, parseUsd } from "#lib/money/money.ts";
import { dayMs } from "#lib/time/days.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { ReadReceipts } from "#src/money/retention/archived-receipts.ts";
import { archiveFolder } from "#src/money/retention/folder.ts";
import { ArchiveReader } from "#src/money/retention/read-archive.ts";
import { Retention } from "#src/money/retention/retention.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { silentLogger } from "../../../support/loggers.ts";
import { databases, dialects } from "../../databases.ts";
import { usd } from "../../fixture.ts";
import { openStatementBooks } from "./statement-books.ts";

const newDatabase = databases();
const usdOf = (text: string) => parseUsd(text) ?? 0n;
const directory = mkdtempSync(join(tmpdir(), "tollgate-statement-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe.each(dialects)("%s", (dialect) => {
  test("a statement has every movement with the balance after it, between the balances of the books", async () => {
    const { storage, funds, account, midnight, refund, statement, clock, close } = await openStatementBooks(
      newDatabase,
      dialect,
    );
    const rows = (await statement()).map((line) => JSON.parse(line));
    expect(await reconcile(storage, undefined, {})).toMatchObject({ ok: true });
    expect(rows.map(({ kind }) => kind)).toEqual([
      ...["account", "opening", "grant", "topup", "charge", "charge", "charge"],
      ...["grant", "charge", "charge", "lapse", "refund", "topup", "repayment", "charge", "closing"],
    ]);
    const [days, today] = [-2, 0].map((at) => new Date(midnight + at * dayMs).toISOString().slice(0, 10));
    expect(rows[0]).toEqual({ kind: "account", account_id: account, from: days, to: today });
    expect(rows[1]).toEqual({ kind: "opening", balance: "0.00", lot_count: 0, lots: [] });
    expect(rows[2]).toMatchObject({ amount: "0.00001013", balance: "0.00001013", reference: `free:${account}` });
    const shared = rows[4];
    expect(shared).toMatchObject({
      ...{ model: "plain", status: "completed", key_id: "", shortfall: "0.00" },
      ...{ prompt_tokens: 20, completion_tokens: 40, cost: "0.000014375", balance: "4.999995755" },
      lots: [
        { lot: rows[2].lot, input_tokens: 20, output_tokens: 24, input_price: "0.20", output_price: "0.25" },
        { lot: rows[3].lot, input_tokens: 0, output_tokens: 16, input_price: "0.22", cost: "0.000004245" },
      ],
    });
    expect(rows[11]).toMatchObject({ kind: "refund", amount: "5.00", reference: refund.reference });
    expect(rows[11].balance).toMatch(/^-0\.0000/);
    const owed = rows[11].balance.slice(1);
    const [{ amount: taken }, short] = rows[11].lots;
    expect([rows[11].lots[0].lot, short]).toEqual([rows[3].lot, { lot: "", amount: owed }]);
    expect(usdOf(taken) + usdOf(owed)).toBe(BigInt(5 * usd));
    const own = { price_version: "2", own_prices: 1, discount_percent: "10" };
    const rates = [{ model: "plain", input_price: "0.198", output_price: "0.2475" }];
    expect(rows[12]).toMatchObject({ kind: "topup", ...own, rates });
    const paid = { lot: rows[12].lot, pays: "", amount: owed, balance: rows[12].balance };
    expect(rows[13]).toMatchObject({ kind: "repayment", ...paid });
    const { balance: left } = rows.at(-1);
    const last = { lot: rows[12].lot, kind: "topup", at: rows[12].at, balance: left, ...own, rates };
    expect(rows.at(-1)).toEqual({ kind: "closing", at: new Date(midnight).toISOString(), balance: left, lots: [last] });
    // What came after these days is in the next statement, whose opening balance is this one's closing balance.
    const afterwards = (await statement({ from: midnight - dayMs })).map((line) => JSON.parse(line));
    const { kind: _, reference: __, amount: ___, ...came } = rows[3];
    expect(afterwards[1]).toEqual({
      ...{ kind: "opening", balance: rows[6].balance, lot_count: 1 },
      lots: [{ ...came, kind: "topup", balance: rows[6].balance }],
    });
    expect(afterwards.at(-1)).toEqual(rows.at(-1));
    const { balance } = await funds.statement(account);
    const charged = 20n * 198_000n + 5n * 247_500n;
    expect(rows.at(-1).balance).toBe(formatUsd(balance + charged));
    await clock.until(close());
  });

  test("a sealed day has its seal behind it, and a day whose receipts have left is the same from its archive", async () => {
    const { storage, store, sealer, inRealTime, account, midnight, statement, clock, close } = await openStatementBooks(
      newDatabase,
      dialect,
    );
    const unsealed = await statement();
    await sealer.sealDue();
    const sealed = await statement();
    expect(sealed.filter((line) => !line.startsWith('{"kind":"seal"'))).toEqual(unsealed);
    const { fields } = GetStatementResponseSchema;
    const rows: Record<string, unknown>[] = sealed.map((line) => JSON.parse(line));
    const lots = rows.flatMap((row) => (row.lots ?? []) as Record<string, unknown>[]);
    const names = (of: readonly object[]) => [...new Set(of.flatMap((one) => Object.keys(one)))].toSorted();
    expect(fields.map(({ name }) => name).toSorted()).toEqual(names(rows));
    expect(StatementPartSchema.fields.map(({ name }) => name).toSorted()).toEqual(names(lots));
    const seals = sealed.filter((line) => line.startsWith('{"kind":"seal"')).map((line) => JSON.parse(line));
    expect(seals).toMatchObject([
      { number: 1, before: "", receipts: 3 },
      { number: 2, before: seals[0].chain, receipts: 3 },
    ]);
    const place = archiveFolder(join(directory, dialect), systemRandom);
    const retention = new Retention({
      ...{ storage, store, sealer, keepDays: 0, place },
      clock: { ...inRealTime, agrees: true },
      logger: silentLogger,
      note: async () => {},
      lease: { hold: async () => true, release: async () => {} },
      observer: { removed: () => {}, looked: () => {} },
    });
    await retention.work();
    expect(await storage.orm.em.fork().count(Usage, { accountId: account })).toBe(1);
    const archives = new ReadReceipts(storage, new ArchiveReader(place));
    expect(await statement({}, archives)).toEqual(sealed);
    expect(await statement({ from: midnight - dayMs }, archives)).toEqual([
      expect.stringContaining('"kind":"account"'),
      ...[expect.stringContaining('"kind":"opening"'), ...sealed.slice(sealed.indexOf(sealed[8] ?? ""))],
    ]);
    await clock.until(close());
  });

  test("what is of today is told so far, and days to come are left out", async () => {
    const { account, midnight, statement, storage, clock, close } = await openStatementBooks(newDatabase, dialect);
    const lines = await statement({ from: midnight, to: midnight + 40 * dayMs });
    const today = new Date(midnight).toISOString().slice(0, 10);
    const tomorrow = new Date(midnight + dayMs).toISOString().slice(0, 10);
    expect(JSON.parse(lines[0] ?? "")).toEqual({ kind: "account", account_id: account, from: today, to: tomorrow });
    const charged = await storage.orm.em
      .fork()
      .count(Usage, { accountId: account, settledAt: { $gte: new Date(midnight) } });
    expect(charged).toBeGreaterThan(0);
    expect(lines.filter((line) => line.includes('"kind":"charge"'))).toHaveLength(charged);
    expect(lines.at(-1)).toContain('"kind":"closing"');
    await clock.until(close());
  });

  test("a part of a day, an empty span, an unknown account and what does not add up are refused", async () => {
    const { storage, account, midnight, statement, clock, close } = await openStatementBooks(newDatabase, dialect);
    const reason = async (asked: Parameters<typeof statement>[0]) =>
      statement(asked).then(
        () => undefined,
        (error: unknown) => readDetail(error),
      );
    expect(await reason({ to: midnight + 1 })).toMatchObject({ parameter: "to" });
    expect(await reason({ from: midnight - 1 })).toMatchObject({ parameter: "from" });
    expect(await reason({ from: midnight })).toMatchObject({ reason: Reason.INVALID_ARGUMENT });
    expect(await reason({ from: midnight + dayMs, to: midnight + 2 * dayMs })).toMatchObject({ parameter: "to" });
    expect(await reason({ of: v7() })).toMatchObject({ reason: Reason.ACCOUNT_NOT_FOUND });
    expect(await reason({ of: "nobody" })).toMatchObject({ reason: Reason.ACCOUNT_NOT_FOUND });
    // As a receipt that leaves the books, or comes late, while it is read.
    await storage.orm.em
      .fork()
      .execute(
        "delete from usage where settled_at = (select max(settled_at) from usage where account_id = ? and settled_at < ?)",
        [account, new Date(midnight)],
      );
    expect(await reason({})).toMatchObject({ reason: Reason.LEDGER_UNAVAILABLE });
    await clock.until(close());
  });
});
