import { create } from "@bufbuild/protobuf";
import { afterEach, expect, test } from "@jest/globals";
import { v7 } from "uuid";
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

interface Home {
  readonly metering: Metering;
  readonly account: string;
}

/** Databases with an account each, which has had so many requests. */
async function databases(...requests: number[]): Promise<Home[]> {
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

async function usage(all: readonly Home[], of: object): Promise<UsageRow[]> {
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

test("an account that has moved has one row a group, with the exact sums of all databases, in the order of one", async () => {
  const [first, second, third] = (await databases(1, 2, 0)) as [Home, Home, Home];
  const moved = first.account;
  await second.metering.funds.open({ id: moved, name: "", maxKeys: 20 }, usd);
  // More keys than a piece of rows has, half of which are used in both.
  const keys = Array.from({ length: 140 }, () => v7());
  const spend = async ({ metering }: Home, from: number, to: number) => {
    const runs = keys.slice(from, to).map(async (keyId, at) => {
      await run(metering.ledger, request(moved, { inputTokens: 10, outputTokens: 20 + at }, { keyId }));
    });
    await clock.until(Promise.all(runs));
  };
  await spend(first, 0, 105);
  await spend(second, 35, 140);
  const rowsOf = (of: object) => usage([first, second, third], of);

  const byAccount = await rowsOf({ groupBy: [UsageGroup.ACCOUNT] });
  expect(byAccount.map((row) => [row.accountId, row.requests])).toEqual([
    [moved, 211n],
    [second.account, 2n],
  ]);
  const byKey = await rowsOf({ groupBy: [UsageGroup.ACCOUNT, UsageGroup.KEY] });
  const ofMoved = byKey.filter((row) => row.accountId === moved);
  expect(ofMoved.map(({ keyId }) => keyId)).toEqual(["", ...keys.toSorted()]);
  expect(ofMoved.map(({ requests }) => requests)).toEqual([
    1n,
    ...keys.map((_, at) => (at < 35 || at >= 105 ? 1n : 2n)),
  ]);
  const costOf = (rows: readonly UsageRow[]) => rows.reduce((sum, row) => sum + BigInt(row.totalCostPicoUsd), 0n);
  const parts = await Promise.all([first, second].map((one) => usage([one], { groupBy: [UsageGroup.ACCOUNT] })));
  expect([costOf(byAccount), costOf(byKey)]).toEqual([costOf(parts.flat()), costOf(parts.flat())]);
  expect((await rowsOf({ groupBy: [UsageGroup.KEY] })).map(({ keyId }) => keyId)).toEqual([
    "",
    ...[...keys, second.account].toSorted(),
  ]);
  const costs = ofMoved.map((row) => BigInt(row.totalCostPicoUsd)).sort((one, other) => (one < other ? 1 : -1));
  const dearest = await rowsOf({ groupBy: [UsageGroup.ACCOUNT, UsageGroup.KEY], dearest: 3 });
  expect(dearest.map((row) => BigInt(row.totalCostPicoUsd))).toEqual(costs.slice(0, 3));
});

test("a reader who stops early gives all databases' snapshots back", async () => {
  const all = await databases(1, 1);
  const storages = all.map(({ metering }) => metering.storage);
  for (let each = 0; each < 10; each++) {
    for await (const _ of addUsage(storages, create(StreamUsageRequestSchema, { groupBy: [UsageGroup.ACCOUNT] }))) {
      break;
    }
  }
  expect(await usage(all, { groupBy: [UsageGroup.ACCOUNT] })).toHaveLength(2);
});
