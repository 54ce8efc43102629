import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { GetReceiptRequestSchema, ListReceiptsRequestSchema } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { ListMonthsRequestSchema } from "#gen/tollgate/metering/v1/month_pb.js";
import { ListRequestsRequestSchema } from "#gen/tollgate/metering/v1/request_pb.js";
import { ReceiptStatus } from "#gen/tollgate/metering/v1/usage_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { newRequestId } from "#lib/ids/request-id.ts";
import { readAll } from "#lib/rpc/pages.ts";
import { Account } from "#src/storage/entities/account.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import type { Principal } from "#src/wire/principal.ts";
import { databases, dialects } from "../../money/databases.ts";
import { request, run, testModel, usd } from "../../money/fixture.ts";
import { as, caller, operator, refusalOf, serveMetering } from "./served-metering.ts";

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  test("a request is known by its id and by that of its answer, which is made from it", async () => {
    const { metering, service } = await serveMetering(await newDatabase(dialect));
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

  test("the name of an account is told with its months to operators and its people, not to its keys", async () => {
    const { metering, service } = await serveMetering(await newDatabase(dialect));
    const account = await metering.account({ paid: usd });
    await metering.storage.orm.em.fork().nativeUpdate(Account, account, { name: "Slow payer" });
    const person: Principal = { kind: "caller", accountId: account, keyId: "", personId: "p" };
    const tellName = async (principal: Principal) =>
      (await service.listMonths(create(ListMonthsRequestSchema, { accountId: account }), as(principal))).accountName;
    expect(await Promise.all([operator, person, caller(account)].map(tellName))).toEqual([
      "Slow payer",
      "Slow payer",
      "",
    ]);
    await metering.close();
  });

  test("a receipt is its account's and the operator's to see, one line a lot", async () => {
    const parts = await serveMetering(await newDatabase(dialect));
    const account = await parts.metering.account({ free: 15 * 250_000, paid: usd });
    const requestId = await parts.spend(account);
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
    expect(await refusalOf(ask(caller(v7()), requestId))).toBe(Reason.RECEIPT_NOT_FOUND);
    expect(await refusalOf(ask(operator, "nothing"))).toBe(Reason.RECEIPT_NOT_FOUND);
    await parts.clock.until(parts.metering.close());
  });

  test("every run of a request id has its receipt, and each account sees its own alone", async () => {
    const { clock, metering, service } = await serveMetering(await newDatabase(dialect));
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
    expect(await refusalOf(() => ask(caller(second), first))).toBe(Reason.PERMISSION_DENIED);
    for (const foreign of [() => ask(caller(v7())), () => ask(operator, v7()), () => ask(operator, "no uuid")]) {
      expect(await refusalOf(foreign)).toBe(Reason.RECEIPT_NOT_FOUND);
    }
    await clock.until(metering.close());
  });

  test("receipts are listed newest first, by what is asked for, page by page", async () => {
    const parts = await serveMetering(await newDatabase(dialect));
    const { clock, metering, service } = parts;
    const mine = await metering.account({ free: 15 * 250_000, paid: usd });
    const other = await metering.account({ paid: usd });
    const first = await parts.spend(mine, "a");
    await clock.pass(1);
    const second = await parts.spend(mine, "b");
    await clock.pass(120_000); // past midnight
    const newest = await parts.spend(mine, "b");
    const foreign = await parts.spend(other, "c");
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
    expect(await refusalOf(() => list(caller(mine), { accountId: other }))).toBe(Reason.PERMISSION_DENIED);

    const pages: string[] = [];
    for (let pageToken = ""; ; ) {
      const { receipts = [], nextPageToken = "" } = await list(operator, { pageSize: 1, pageToken });
      pages.push(...receipts.map(({ requestId = "" }) => requestId));
      if (nextPageToken === "") {
        break;
      }
      pageToken = nextPageToken;
      expect(await refusalOf(() => list(operator, { pageSize: 1, pageToken, model: testModel }))).toBe(
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

  test("a receipt shows counts beyond 32 bits", async () => {
    const parts = await serveMetering(await newDatabase(dialect));
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
    const parts = await serveMetering(await newDatabase(dialect));
    const ask = () => parts.service.getReceipt(create(GetReceiptRequestSchema, { requestId: text }), as(operator));
    expect(await refusalOf(ask)).toBe(Reason.RECEIPT_NOT_FOUND);
    await parts.clock.until(parts.metering.close());
  });
});
