import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createContextValues, type HandlerContext } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import {
  GetReceiptRequestSchema,
  ListUsageRequestSchema,
  UsageGroup,
} from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { ReceiptStatus, type UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { detailOf } from "../../lib/errors/detail.ts";
import type { Principal } from "../../src/accounts/interface.ts";
import { principalKey } from "../../src/interceptors/principal.ts";
import { createMeteringService } from "../../src/metering/metering-service.ts";
import { databases, dialects } from "./databases.ts";
import { type Metering, MODEL, models, openMetering, request, run, USD } from "./fixture.ts";
import { ManualClock } from "./manual-clock.ts";
import { silentObserver } from "./silent-observer.ts";

const newDatabase = databases();
const operator: Principal = { kind: "operator" };
const caller = (accountId: string): Principal => ({ kind: "caller", accountId, keyId: "k" });

const as = (principal: Principal) =>
  ({ values: createContextValues().set(principalKey, principal) }) as unknown as HandlerContext;

const reasonOf = async (call: () => unknown) => {
  try {
    await call();
    return undefined;
  } catch (error) {
    return detailOf(error)?.reason;
  }
};

describe.each(dialects)("%s", (dialect) => {
  const start = async () => {
    const clock = new ManualClock(Date.UTC(2026, 4, 1, 23, 59, 0));
    const embedding = { id: "embed", kind: "embedding", price: { input: "0.01" } };
    const metering = await openMetering({ clock, url: await newDatabase(dialect), models: models(embedding) });
    const limit = { limit: 60, remaining: 59, resetAfterMs: 1500 };
    const rateLimits = { admit: async () => limit, read: async () => limit };
    const { storage, ledger, prices } = metering;
    const service = createMeteringService({ storage, ledger, prices, rateLimits, observer: silentObserver });
    const usage = async (principal: Principal, of: object): Promise<UsageRow[]> => {
      const rows: UsageRow[] = [];
      const answer = service.listUsage(create(ListUsageRequestSchema, of), as(principal));
      for await (const piece of answer) rows.push(...((piece.rows ?? []) as UsageRow[]));
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

  test("a receipt is its account's and the operator's to see, one line a lot", async () => {
    const parts = await start();
    const account = await parts.metering.account({ free: 15 * 250_000, paid: USD });
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
        model: MODEL,
        inputTokens: 10,
        outputTokens: 20,
        costPicoUsd: 7_000_000n,
        status: ReceiptStatus.COMPLETED,
        lines: [
          { inputTokens: 10, outputTokens: 7, costPicoUsd: 3_750_000n },
          { inputTokens: 0, outputTokens: 13, costPicoUsd: 3_250_000n, outputPicoUsdPerToken: 250_000n },
        ],
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
    const accounts = [await metering.account({ paid: USD }), await metering.account({ paid: USD })];
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
    for (const foreign of [() => ask(caller(v7())), () => ask(operator, v7()), () => ask(operator, "no uuid")])
      expect(await reasonOf(foreign)).toBe(Reason.RECEIPT_NOT_FOUND);
    await clock.until(metering.close());
  });

  test("usage is summed by what is asked for", async () => {
    const parts = await start();
    const first = await parts.metering.account({ paid: USD });
    const second = await parts.metering.account({ paid: USD });
    await spend(parts, first, "a");
    await spend(parts, first, "b");
    await parts.clock.pass(120_000); // past midnight
    await spend(parts, first, "b");
    await spend(parts, second, "c");
    const { usage } = parts;
    expect(await usage(operator, {})).toHaveLength(3);
    expect(await usage(operator, { accountId: first })).toMatchObject([
      { accountId: first, keyId: "a", model: MODEL, day: "", requests: 1n },
      { accountId: first, keyId: "b", model: MODEL, requests: 2n, inputTokens: 20n, outputTokens: 40n },
    ]);
    expect(await usage(operator, { groupBy: [UsageGroup.DAY] })).toMatchObject([
      { accountId: "", day: "2026-05-01", requests: 2n },
      { day: "2026-05-02", requests: 2n, costPicoUsd: 14_000_000n },
    ]);
    expect(await usage(operator, { keyId: "b", groupBy: [UsageGroup.MODEL] })).toMatchObject([{ requests: 2n }]);
    expect(await usage(operator, { model: "other" })).toEqual([]);
    expect(await usage(operator, { accountId: "no uuid" })).toEqual([]);
    const midnight = timestampFromMs(Date.UTC(2026, 4, 2));
    expect(await usage(operator, { from: midnight, groupBy: [UsageGroup.MODEL] })).toMatchObject([{ requests: 2n }]);
    expect(await usage(operator, { to: midnight, groupBy: [UsageGroup.MODEL] })).toMatchObject([{ requests: 2n }]);
    expect(await usage(caller(second), {})).toMatchObject([{ accountId: second, keyId: "c" }]);
    expect(await reasonOf(() => usage(caller(second), { accountId: first }))).toBe(Reason.PERMISSION_DENIED);
    expect(await reasonOf(() => usage(operator, { groupBy: [UsageGroup.UNSPECIFIED] }))).toBe(Reason.INVALID_ARGUMENT);
    await parts.clock.until(parts.metering.close());
  });

  test("prices are listed, set, pinned and remembered", async () => {
    const { clock, metering, service } = await start();
    const of = <Name extends string>($typeName: Name, fields: object) => ({ $typeName, ...fields }) as never;
    const context = as(operator);
    const listed = await service.listPrices(of("tollgate.metering.v1.ListPricesRequest", {}), context);
    expect(listed.prices).toMatchObject([
      { model: MODEL, inputPicoUsdPerToken: 200_000n, outputPicoUsdPerToken: 250_000n, pinned: false, version: "1" },
      { model: "embed", inputPicoUsdPerToken: 10_000n, outputPicoUsdPerToken: 0n },
    ]);
    await clock.advance(1000);
    const rates = { inputPicoUsdPerToken: 300_000n, outputPicoUsdPerToken: 400_000n };
    await service.setPrice(of("tollgate.metering.v1.SetPriceRequest", { model: MODEL, ...rates }), context);
    expect(metering.prices.live(MODEL)).toEqual({ input: 300_000, output: 400_000 });
    const pin = { model: MODEL, inputPicoUsdPerToken: 350_000n };
    expect(await service.pinPrice(of("tollgate.metering.v1.PinPriceRequest", pin), context)).toMatchObject({
      price: {
        inputPicoUsdPerToken: 350_000n,
        outputPicoUsdPerToken: 400_000n,
        baseInputPicoUsdPerToken: 300_000n,
        pinned: true,
      },
    });
    await metering.prices.move(new Date(clock.now()), ({ model }) =>
      model === MODEL ? { input: 1, output: 1 } : undefined,
    );
    expect(metering.prices.live(MODEL)).toEqual({ input: 350_000, output: 400_000 });
    expect(
      await service.unpinPrice(of("tollgate.metering.v1.UnpinPriceRequest", { model: MODEL }), context),
    ).toMatchObject({
      price: { inputPicoUsdPerToken: 350_000n, pinned: false },
    });
    const { prices: history } = await service.listPriceHistory(
      of("tollgate.metering.v1.ListPriceHistoryRequest", { model: MODEL, pageSize: 0, pageToken: "" }),
      context,
    );
    expect(
      history?.map(({ version, inputPicoUsdPerToken, pinned }) => [version, inputPicoUsdPerToken, pinned]),
    ).toEqual([
      ["4", 350_000n, false],
      ["3", 350_000n, true],
      ["2", 300_000n, false],
      ["1", 200_000n, false],
    ]);
    const page = async (fields: object) =>
      service.listPriceHistory(
        of("tollgate.metering.v1.ListPriceHistoryRequest", { model: MODEL, ...fields }),
        context,
      );
    const first = await page({ pageSize: 3, pageToken: "" });
    expect(first).toMatchObject({ prices: [{ version: "4" }, { version: "3" }, { version: "2" }], nextPageToken: "2" });
    const second = await page({ pageSize: 3, pageToken: first.nextPageToken });
    expect([second.prices?.length, second.nextPageToken]).toEqual([1, ""]);
    for (const pageToken of ["0", "x", "1e3", " 2"])
      expect(await reasonOf(() => page({ pageSize: 3, pageToken }))).toBe(Reason.INVALID_ARGUMENT);
    const refused = [
      { model: "unknown", ...rates },
      { model: MODEL, inputPicoUsdPerToken: -1n, outputPicoUsdPerToken: 1n },
      { model: MODEL, inputPicoUsdPerToken: 2n ** 40n, outputPicoUsdPerToken: 1n },
      { model: "embed", inputPicoUsdPerToken: 1n, outputPicoUsdPerToken: 1n },
    ];
    const reasons = [];
    for (const price of refused)
      reasons.push(await reasonOf(() => service.setPrice(of("tollgate.metering.v1.SetPriceRequest", price), context)));
    expect(reasons).toEqual([Reason.MODEL_NOT_FOUND, ...Array(3).fill(Reason.INVALID_ARGUMENT)]);
    await clock.until(metering.close());
  });

  test("counts a request and proves the books", async () => {
    const { clock, metering, service } = await start();
    const counted = await service.countRequest(
      { $typeName: "tollgate.metering.v1.CountRequestRequest" },
      as(caller(v7())),
    );
    expect(counted).toMatchObject({ rateLimit: { limit: 60, remaining: 59, resetAfter: { seconds: 1n, nanos: 5e8 } } });
    expect(await service.reconcile({ $typeName: "tollgate.metering.v1.ReconcileRequest" }, as(operator))).toMatchObject(
      {
        ok: true,
      },
    );
    await clock.until(metering.close());
  });
});
