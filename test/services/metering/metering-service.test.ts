import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createContextValues, type HandlerContext } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import {
  GetReceiptRequestSchema,
  ListReceiptsRequestSchema,
  StreamUsageRequestSchema,
  UsageGroup,
} from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { ListRequestsRequestSchema } from "#gen/tollgate/metering/v1/request_pb.js";
import { ReceiptStatus, type UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { newRequestId } from "#lib/ids/request-id.ts";
import { readAll } from "#lib/rpc/pages.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { createMeteringService } from "#src/services/metering/metering-service.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { principalKey } from "#src/wire/interceptors/access/principal.ts";
import type { Principal } from "#src/wire/principal.ts";
import { databases, dialects } from "../../money/databases.ts";
import { type Metering, openMetering, request, run, testModel, usd } from "../../money/fixture.ts";
import { noArchives } from "../../money/no-archives.ts";
import { movableClock } from "../../storage/movable-clock.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

const newDatabase = databases();
const operator: Principal = { kind: "operator", id: "", name: "root", role: Role.OWNER };
const caller = (accountId: string): Principal => ({ kind: "caller", accountId, keyId: "k" });

const as = (principal: Principal) =>
  ({
    values: createContextValues().set(principalKey, principal),
    signal: new AbortController().signal,
  }) as unknown as HandlerContext;

const reasonOf = async (call: () => unknown) => {
  try {
    await call();
    return undefined;
  } catch (error) {
    return readDetail(error)?.reason;
  }
};

describe.each(dialects)("%s", (dialect) => {
  const start = async () => {
    const minuteToMidnight = Date.UTC(2026, 4, 1, 23, 59, 0);
    const clock = new ManualClock(minuteToMidnight);
    const url = await newDatabase(dialect);
    // Days of usage are the database's; SQLite has no clock of its own.
    if (dialect === "postgresql") {
      await (await movableClock(url))(minuteToMidnight - Date.now());
    }
    const metering = await openMetering({ clock, url });
    const service = createMeteringService({ storage: metering.storage, clock, archives: noArchives, labels: [] });
    const usage = async (principal: Principal, of: object): Promise<UsageRow[]> => {
      const rows: UsageRow[] = [];
      const answer = service.streamUsage(create(StreamUsageRequestSchema, of), as(principal));
      for await (const piece of answer) {
        rows.push(...((piece.rows ?? []) as UsageRow[]));
      }
      return rows;
    };
    return { clock, metering, service, usage };
  };
  const spend = async (
    { clock, metering }: { clock: ManualClock; metering: Metering },
    account: string,
    keyId = "k",
  ) => {
    const wanted = request(account, { inputTokens: 10, outputTokens: 20 }, { keyId });
    await clock.until(run(metering.ledger, wanted));
    return wanted.requestId;
  };

  test("a request is known by its id and by that of its answer, which is made from it", async () => {
    const { metering, service } = await start();
    const account = await metering.account({ paid: usd });
    const requestId = newRequestId(systemRandom);
    const wanted = { ...request(account, { inputTokens: 10, outputTokens: 20 }), requestId };
    await run(metering.ledger, wanted);
    for (const id of [requestId, requestId.replace("req_", "chatcmpl-"), requestId.replace("req_", "msg_")]) {
      const asked = { requestId: id };
      const { receipt } = await service.getReceipt(create(GetReceiptRequestSchema, asked), as(operator));
      const { receipts } = await service.listReceipts(create(ListReceiptsRequestSchema, asked), as(operator));
      const { requests } = await service.listRequests(create(ListRequestsRequestSchema, asked), as(operator));
      expect([receipt, receipts?.[0], requests?.[0]].map((found) => found?.requestId)).toEqual(
        Array(3).fill(requestId),
      );
    }
    await metering.close();
  });

  test("a receipt is its account's and the operator's to see, one line a lot", async () => {
    const parts = await start();
    const account = await parts.metering.account({ free: 15 * 250_000, paid: usd });
    const requestId = await spend(parts, account);
    for (const principal of [operator, caller(account)]) {
      const { receipt } = await parts.service.getReceipt(
        { $typeName: "tollgate.metering.v1.GetReceiptRequest", requestId, accountId: "" },
        as(principal),
      );
      expect(receipt).toMatchObject({
        requestId,
        accountId: account,
        keyId: "k",
        model: testModel,
        inputTokens: 10n,
        outputTokens: 20n,
        costPicoUsd: 7_000_000n,
        status: ReceiptStatus.COMPLETED,
        lines: [
          { inputTokens: 10n, outputTokens: 7n, costPicoUsd: 3_750_000n },
          { inputTokens: 0n, outputTokens: 13n, costPicoUsd: 3_250_000n, outputPicoUsdPerToken: 250_000n },
        ],
        hold: {
          ...{ inputTokens: 10n, outputTokens: 20n, heldPicoUsd: 7_000_000n, shrunkPicoUsd: 7_000_000n },
          ...{ inputPicoUsdPerToken: 200_000n, outputPicoUsdPerToken: 250_000n },
        },
      });
    }
    const ask = (principal: Principal, id: string) => () =>
      parts.service.getReceipt(create(GetReceiptRequestSchema, { requestId: id }), as(principal));
    expect(await reasonOf(ask(caller(v7()), requestId))).toBe(Reason.RECEIPT_NOT_FOUND);
    expect(await reasonOf(ask(operator, "nothing"))).toBe(Reason.RECEIPT_NOT_FOUND);
    await parts.clock.until(parts.metering.close());
  });

  test("every run of a request id has its receipt, and each account sees its own alone", async () => {
    const { clock, metering, service } = await start();
    const accounts = [await metering.account({ paid: usd }), await metering.account({ paid: usd })];
    const tokens = { inputTokens: 1, outputTokens: 1 };
    for (const account of accounts) {
      await clock.until(run(metering.ledger, request(account, tokens, { requestId: "same" })));
      await clock.pass(1000);
    }
    const [first = "", second = ""] = accounts;
    const ask = (principal: Principal, accountId = "") =>
      service.getReceipt(create(GetReceiptRequestSchema, { requestId: "same", accountId }), as(principal));
    const mine = (accountId: string) => ({ receipt: { requestId: "same", accountId }, furtherRuns: [] });
    expect(await ask(operator)).toMatchObject({ ...mine(first), furtherRuns: [{ accountId: second }] });
    expect(await ask(operator, second)).toMatchObject(mine(second));
    expect(await ask(caller(first))).toMatchObject(mine(first));
    expect(await ask(caller(second), second)).toMatchObject(mine(second));
    expect(await reasonOf(() => ask(caller(second), first))).toBe(Reason.PERMISSION_DENIED);
    for (const foreign of [() => ask(caller(v7())), () => ask(operator, v7()), () => ask(operator, "no uuid")]) {
      expect(await reasonOf(foreign)).toBe(Reason.RECEIPT_NOT_FOUND);
    }
    await clock.until(metering.close());
  });

  test("receipts are listed newest first, by what is asked for, page by page", async () => {
    const parts = await start();
    const { clock, metering, service } = parts;
    const mine = await metering.account({ free: 15 * 250_000, paid: usd });
    const other = await metering.account({ paid: usd });
    const first = await spend(parts, mine, "a");
    await clock.pass(1);
    const second = await spend(parts, mine, "b");
    await clock.pass(120_000); // past midnight
    const newest = await spend(parts, mine, "b");
    const foreign = await spend(parts, other, "c");
    const list = (principal: Principal, of: object = {}) =>
      service.listReceipts(create(ListReceiptsRequestSchema, of), as(principal));
    const idsOf = async (principal: Principal, of: object = {}) => {
      const found = await readAll(
        async (page) => ({ nextPageToken: "", ...(await list(principal, { ...of, ...page })) }),
        ({ receipts = [] }) => receipts,
      );
      return found.map(({ requestId }) => requestId);
    };
    expect(await idsOf(operator)).toHaveLength(4);
    expect(await idsOf(caller(mine))).toEqual([newest, second, first]);
    expect(await idsOf(caller(mine), { keyId: "a" })).toEqual([first]);
    expect(await idsOf(caller(other))).toEqual([foreign]);
    expect(await idsOf(operator, { accountId: mine, from: timestampFromMs(Date.UTC(2026, 4, 2)) })).toEqual([newest]);
    expect(await idsOf(operator, { to: timestampFromMs(Date.UTC(2026, 4, 2)) })).toHaveLength(2);
    expect(await idsOf(operator, { requestId: second })).toEqual([second]);
    expect(await idsOf(operator, { model: "other" })).toEqual([]);
    expect(await idsOf(operator, { accountId: "no uuid" })).toEqual([]);
    expect(await reasonOf(() => list(caller(mine), { accountId: other }))).toBe(Reason.PERMISSION_DENIED);

    const pages: string[] = [];
    for (let pageToken = ""; ; ) {
      const { receipts = [], nextPageToken = "" } = await list(operator, { pageSize: 1, pageToken });
      pages.push(...receipts.map(({ requestId = "" }) => requestId));
      if (nextPageToken === "") {
        break;
      }
      pageToken = nextPageToken;
      expect(await reasonOf(() => list(operator, { pageSize: 1, pageToken, model: testModel }))).toBe(
        Reason.INVALID_ARGUMENT,
      );
    }
    expect(pages).toEqual(await idsOf(operator));
    const asListed = (await list(operator, { requestId: first })).receipts?.[0];
    const { receipt } = await service.getReceipt(create(GetReceiptRequestSchema, { requestId: first }), as(operator));
    expect(asListed).toEqual(receipt);
    expect(asListed?.lines).toHaveLength(2);
    await clock.until(metering.close());
  });

  test("usage beyond 64 bits is summed exactly", async () => {
    const parts = await start();
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

  test("a receipt shows counts beyond 32 bits", async () => {
    const parts = await start();
    const accountId = await parts.metering.account();
    const counts = { inputTokens: 2 ** 32 + 7, outputTokens: 2 ** 40 };
    await parts.metering.storage.orm.em.fork().insert(Usage, {
      ...{ requestId: "large", runId: v7(), accountId, keyId: "k", model: testModel, cost: 1, shortfall: 0 },
      ...{ ...counts, cachedInputTokens: 2 ** 32, status: "completed" as const, settledAt: new Date() },
    });
    const { receipt } = await parts.service.getReceipt(
      create(GetReceiptRequestSchema, { requestId: "large" }),
      as(caller(accountId)),
    );
    expect(receipt).toMatchObject({ inputTokens: 4294967303n, outputTokens: 1099511627776n });
    await parts.clock.until(parts.metering.close());
  });

  test.each(["nul\0", "half \ud800"])("a request with the id %j has no receipt", async (text) => {
    const parts = await start();
    const ask = () => parts.service.getReceipt(create(GetReceiptRequestSchema, { requestId: text }), as(operator));
    expect(await reasonOf(ask)).toBe(Reason.RECEIPT_NOT_FOUND);
    await parts.clock.until(parts.metering.close());
  });

  test("usage is summed by what is asked for", async () => {
    const parts = await start();
    const first = await parts.metering.account({ paid: usd });
    const second = await parts.metering.account({ paid: usd });
    await spend(parts, first, "a");
    await spend(parts, first, "b");
    await parts.clock.pass(120_000); // past midnight
    await spend(parts, first, "b");
    await spend(parts, second, "c");
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
    await spend(parts, first, "b");
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
    expect(await reasonOf(() => usage(caller(second), { accountId: first }))).toBe(Reason.PERMISSION_DENIED);
    await parts.clock.until(parts.metering.close());
  });
});
