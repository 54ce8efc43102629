import { create } from "@bufbuild/protobuf";
import { afterEach, expect, test } from "@jest/globals";
import { StreamUsageRequestSchema, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { addUsage } from "../../../../src/metering/books/receipts/add-usage.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { type Metering, openMetering, request, run, usd } from "../../fixture.ts";

const clock = new ManualClock();
const opened: Metering[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((metering) => clock.until(metering.close())));
});

/** Databases with an account each, which has had so many requests. */
async function databases(...requests: number[]): Promise<{ metering: Metering; account: string }[]> {
  const all = [];
  for (const count of requests) {
    const metering = await openMetering({ clock });
    opened.push(metering);
    const account = await metering.account({ paid: usd });
    for (let each = 0; each < count; each++) {
      const wanted = request(account, { inputTokens: 10, outputTokens: 20 }, { keyId: each === 0 ? "" : account });
      await clock.until(run(metering.ledger, wanted));
    }
    all.push({ metering, account });
  }
  return all;
}

async function usage(all: readonly { metering: Metering }[], of: object): Promise<UsageRow[]> {
  const storages = all.map(({ metering }) => metering.storage);
  const pieces = [];
  for await (const rows of addUsage(storages, create(StreamUsageRequestSchema, of))) {
    pieces.push(...rows);
  }
  return pieces;
}

test("sums over accounts are those of all databases together", async () => {
  const all = await databases(3, 1, 2);
  const [sum, ...more] = await usage(all, { groupBy: [UsageGroup.MODEL] });
  expect(more).toEqual([]);
  expect(sum).toMatchObject({ requests: 6n, inputTokens: 60n, outputTokens: 120n, totalCostPicoUsd: "42000000" });
  expect(sum?.costPicoUsd).toBe(42_000_000n);
});

test("rows of accounts are of one database each, and the dearest are those of all", async () => {
  const all = await databases(1, 3, 2);
  const [one, three, two] = all.map(({ account }) => account);
  const groups = { groupBy: [UsageGroup.ACCOUNT] };
  expect((await usage(all, groups)).map((row) => [row.accountId, row.requests])).toEqual([
    [one, 1n],
    [three, 3n],
    [two, 2n],
  ]);
  const dearest = await usage(all, { ...groups, dearest: 2 });
  expect(dearest.map((row) => [row.accountId, row.requests])).toEqual([
    [three, 3n],
    [two, 2n],
  ]);
});

test("service tokens have no key in any database, and are one row", async () => {
  const all = await databases(2, 3);
  const [first, second] = all.map(({ account }) => account);
  const rows = await usage(all, { groupBy: [UsageGroup.KEY] });
  const found = new Map(rows.map((row) => [row.keyId, row.requests]));
  expect(found).toEqual(
    new Map([
      [first, 1n],
      [second, 2n],
      ["", 2n],
    ]),
  );
  const [dearest] = await usage(all, { groupBy: [UsageGroup.KEY], dearest: 1 });
  expect(dearest?.requests).toBe(2n);
});
