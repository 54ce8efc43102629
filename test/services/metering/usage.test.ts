import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { databases, dialects } from "../../money/databases.ts";
import { testModel, usd } from "../../money/fixture.ts";
import { caller, operator, refusalOf, serveMetering } from "./served-metering.ts";

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  test("usage beyond 64 bits is summed exactly", async () => {
    const parts = await serveMetering(await newDatabase(dialect));
    const account = await parts.metering.account();
    const cost = Number.MAX_SAFE_INTEGER;
    const charges = Array.from({ length: 2000 }, (_, at) => ({
      ...{ requestId: `r${at}`, runId: v7(), accountId: account, keyId: "k", model: testModel, cost, lines: [] },
      ...{ inputTokens: 1, outputTokens: 0, shortfall: 0, status: "completed" as const, settledAt: Date.now() },
    }));
    await parts.metering.store.settle(charges);
    const costPicoUsd = 2n ** 63n - 1n;
    const totalCostPicoUsd = String(2000n * BigInt(cost)); // 1.8e19
    expect(await parts.usage(operator, {})).toMatchObject([{ requests: 2000n, costPicoUsd, totalCostPicoUsd }]);
    const few = charges.slice(0, 1000).map((charge) => ({ ...charge, runId: v7(), keyId: "few" }));
    await parts.metering.store.settle(few);
    const exact = 1000n * BigInt(cost);
    expect(await parts.usage(operator, { keyId: "few" })).toMatchObject([
      { costPicoUsd: exact, totalCostPicoUsd: String(exact) },
    ]);
    await parts.clock.until(parts.metering.close());
  });

  test("usage is summed by what is asked for", async () => {
    const parts = await serveMetering(await newDatabase(dialect));
    const first = await parts.metering.account({ paid: usd });
    const second = await parts.metering.account({ paid: usd });
    await parts.spend(first, "a");
    await parts.spend(first, "b");
    await parts.clock.pass(120_000); // past midnight
    await parts.spend(first, "b");
    await parts.spend(second, "c");
    const { usage } = parts;
    expect(await usage(operator, {})).toHaveLength(3);
    expect(await usage(operator, { accountId: first })).toMatchObject([
      { accountId: first, keyId: "a", model: testModel, day: "", requests: 1n },
      { accountId: first, keyId: "b", model: testModel, requests: 2n, inputTokens: 20n, outputTokens: 40n },
    ]);
    expect(await usage(operator, { groupBy: [UsageGroup.DAY] })).toMatchObject([
      { accountId: "", day: "2026-05-01", requests: 2n },
      { day: "2026-05-02", requests: 2n, costPicoUsd: 14_000_000n },
    ]);
    expect(await usage(operator, { groupBy: [UsageGroup.HOUR, UsageGroup.KEY] })).toMatchObject([
      { keyId: "a", hour: "2026-05-01T23:00:00Z" },
      { keyId: "b", hour: "2026-05-01T23:00:00Z", day: "" },
      { keyId: "b", hour: "2026-05-02T00:00:00Z", requests: 1n },
      { keyId: "c", hour: "2026-05-02T00:00:00Z" },
    ]);
    expect(await usage(operator, { groupBy: [UsageGroup.KEY], dearest: 2 })).toMatchObject([
      { keyId: "b", requests: 2n },
      { keyId: "a", requests: 1n },
    ]);
    expect(await usage(operator, { keyId: "b", groupBy: [UsageGroup.MODEL] })).toMatchObject([{ requests: 2n }]);
    expect(await usage(operator, { model: "other" })).toEqual([]);
    expect(await usage(operator, { accountId: "no uuid" })).toEqual([]);
    const midnight = timestampFromMs(Date.UTC(2026, 4, 2));
    expect(await usage(operator, { from: midnight, groupBy: [UsageGroup.MODEL] })).toMatchObject([{ requests: 2n }]);
    expect(await usage(operator, { to: midnight, groupBy: [UsageGroup.MODEL] })).toMatchObject([{ requests: 2n }]);
    // The same whether or not it has been summed up, however an hour is cut.
    const edge = {
      from: timestampFromMs(Date.UTC(2026, 4, 1, 23, 30)),
      to: timestampFromMs(Date.UTC(2026, 4, 2, 0, 30)),
    };
    const asked = [
      ...[{}, { groupBy: [UsageGroup.DAY] }, { groupBy: [UsageGroup.HOUR, UsageGroup.MODEL] }, { keyId: "b" }],
      ...[edge, { ...edge, from: midnight }, { ...edge, to: midnight }, { ...edge, groupBy: [UsageGroup.HOUR] }],
      { from: edge.from, to: timestampFromMs(Date.UTC(2026, 4, 1, 23, 45)) },
    ];
    const before = await Promise.all(asked.map((of) => usage(operator, of)));
    expect(before[4]).toHaveLength(3);
    expect(before.at(-1)).toEqual([]);
    const { store, storage } = parts.metering;
    const hour = Date.UTC(2026, 4, 2) / 3_600_000;
    const look = async () => store.markSeen(await store.unseenTallies(10));
    expect(await store.foldTallies(hour + 48)).toBe(0); // those that nobody has looked at stay
    await look();
    expect(await store.foldTallies(hour)).toBe(2);
    expect(await store.foldTallies(hour)).toBe(0);
    expect(await Promise.all(asked.map((of) => usage(operator, of)))).toEqual(before);
    await parts.spend(first, "b");
    await look();
    expect(await store.foldTallies(hour + 24)).toBe(2);
    expect(await usage(operator, { keyId: "b", groupBy: [UsageGroup.DAY] })).toMatchObject([
      { day: "2026-05-01", requests: 1n },
      { day: "2026-05-02", requests: 2n },
    ]);
    expect(await reconcile(storage)).toMatchObject({ ok: true, findings: [] });
    const em = storage.orm.em.fork();
    await em.execute("update usage_rollup set cost_low = cost_low + 1 where span = 'day' and key_id = 'a'");
    const { findings } = await reconcile(storage);
    expect(findings.map(({ rule }) => rule)).toEqual(["the usage of a day is that of its hours"]);
    expect(await usage(caller(second), {})).toMatchObject([{ accountId: second, keyId: "c" }]);
    expect(await refusalOf(() => usage(caller(second), { accountId: first }))).toBe(Reason.PERMISSION_DENIED);
    await parts.clock.until(parts.metering.close());
  });
});
