import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { StreamUsageRequestSchema, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { systemRandom } from "../../lib/ids/random.ts";
import { systemClock } from "../../lib/time/clock.ts";
import { reconcile } from "../../src/metering/books/proof/reconcile.ts";
import { readReceipts } from "../../src/metering/books/receipts/receipts.ts";
import { streamUsage } from "../../src/metering/books/receipts/usage.ts";
import { Retention } from "../../src/metering/retention/retention.ts";
import { createLedgerStore } from "../../src/metering/store/create.ts";
import { openStorage } from "../../src/storage/orm.ts";
import { silentLogger } from "../support/loggers.ts";

// A file that an early version wrote and closed in order: payments of a customer at two prices, a refund, seven
// requests over the wire. It knows neither of facts about runs nor of budgets, events or sums of usage.

let directory: string;
let path: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-old-"));
  path = join(directory, "tollgate.db");
  writeFileSync(path, gunzipSync(readFileSync(new URL("fixtures/before-run-facts.db.gz", import.meta.url))));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface OldReceipt {
  readonly request_id: string;
  readonly account_id: string;
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost: number;
}

const sum = (amount: string, table: string) => `(select coalesce(sum(${amount}), 0) from ${table})`;

/** The books as the old program kept them. */
function readOld() {
  const database = new DatabaseSync(path);
  const receipts = database.prepare("select * from usage order by request_id").all() as unknown as OldReceipt[];
  const books = database
    .prepare(
      `select ${sum("amount", "payment where kind <> 'refund'")} as granted, ${sum("cost", "usage")} as spent,
         ${sum("refunded", "lot")} as refunded, ${sum("expired", "lot")} as expired, ${sum("debt", "account")} as debt,
         ${sum("granted - spent - refunded - expired", "lot")} as balance`,
    )
    .get() as Record<string, number>;
  database.close();
  return { receipts, books };
}

test("an upgrade keeps every receipt of an old file, and the books prove before and after", async () => {
  const { receipts, books } = readOld();
  const { granted = 0, balance = 0, spent = 0, refunded = 0, expired = 0, debt = 0 } = books;
  expect(receipts).toHaveLength(7);
  expect(granted).toBe(balance + spent + refunded + expired - debt);

  const storage = await openStorage(`sqlite:${path}`);
  expect(await reconcile(storage)).toMatchObject({
    ...{ ok: true, findings: [], receipts: 7n, grantedPicoUsd: String(granted), balancePicoUsd: String(balance) },
    ...{ spentPicoUsd: String(spent), refundedPicoUsd: String(refunded), debtPicoUsd: String(debt) },
  });
  for (const old of receipts) {
    const [receipt, ...further] = await readReceipts(storage, old.request_id, undefined);
    expect(further).toEqual([]);
    expect(receipt).toMatchObject({
      ...{ accountId: old.account_id, model: old.model, costPicoUsd: BigInt(old.cost) },
      ...{ inputTokens: BigInt(old.input_tokens), outputTokens: BigInt(old.output_tokens), surface: "" },
    });
    expect(receipt?.lines.reduce((total, { costPicoUsd }) => total + costPicoUsd, 0n)).toBe(BigInt(old.cost));
  }

  for (const asked of [{}, { groupBy: [UsageGroup.ACCOUNT] }, { groupBy: [UsageGroup.HOUR, UsageGroup.MODEL] }]) {
    const sums: UsageRow[] = [];
    for await (const rows of streamUsage(storage, create(StreamUsageRequestSchema, asked))) {
      sums.push(...rows);
    }
    expect(sums.reduce((total, { requests }) => total + requests, 0n)).toBe(7n);
    expect(sums.reduce((total, { totalCostPicoUsd }) => total + BigInt(totalCostPicoUsd), 0n)).toBe(BigInt(spent));
  }

  // Its receipts are years younger than the clock of this retention: all of them leave, and the books prove on.
  const store = createLedgerStore(storage, systemRandom, v7());
  const later = Date.now() + 10 * 365 * 86_400_000;
  await store.markSeen(await store.unseenTallies(100));
  await store.foldTallies(Math.floor(later / 3_600_000));
  const retention = new Retention({
    ...{ storage, store, keepDays: 180, directory, random: systemRandom, logger: silentLogger },
    clock: { ...systemClock, now: () => later, monotonic: () => performance.now() },
    note: async () => {},
    lease: { hold: async () => true, release: async () => {} },
    observer: { removed() {}, looked() {} },
  });
  await retention.work();
  expect(await reconcile(storage)).toMatchObject({ ok: true, receipts: 7n, spentPicoUsd: String(spent) });
  const left = readReceipts(storage, receipts[0]?.request_id ?? "", undefined);
  await expect(left).rejects.toThrow("left the books");
  await store.end();
  await storage.close();
}, 60_000);
