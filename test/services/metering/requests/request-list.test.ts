import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { ListRequestsRequestSchema, RequestOutcome } from "#gen/tollgate/metering/v1/request_pb.js";
import { readAll } from "#lib/rpc/pages.ts";
import type { RefusedRequest } from "#src/money/model/store/request.ts";
import { listRequests } from "#src/services/metering/requests/request-list.ts";
import { RequestRecord } from "#src/storage/entities/history/request-record.ts";
import { databases, dialects } from "../../../money/databases.ts";
import { type Metering, never, openMetering, request, run, testModel, usd } from "../../../money/fixture.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

const newDatabase = databases();
const bounds = { before: 0, most: 1_000_000 };

const refusal = (accountId: string | undefined, at: number, more: Partial<RefusedRequest> = {}): RefusedRequest => ({
  ...{ requestId: `req_${at}`, accountId, keyId: "k", surface: "chat", model: testModel, reason: "RATE_LIMITED" },
  ...{ httpStatus: 429, durationMs: 3, server: "", leftOut: 0, at },
  ...more,
});

describe.each(dialects)("%s", (dialect) => {
  const start = async () => {
    const clock = new ManualClock(Date.now());
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const account = await metering.account({ paid: usd });
    const finish = async () => {
      const wanted = request(account, { inputTokens: 10, outputTokens: 20 }, { keyId: "k" });
      await clock.until(run(metering.ledger, wanted));
      return wanted.requestId;
    };
    const record = (requests: readonly RefusedRequest[], within = bounds) =>
      clock.until(metering.store.recordRequests(requests, within));
    return { metering, account, clock, finish, record };
  };
  const list = ({ storage }: Metering, asked: object = {}) =>
    listRequests(storage, create(ListRequestsRequestSchema, asked));

  test("finished and refused requests are one list, newest first, page by page", async () => {
    const { metering, account, clock, finish, record } = await start();
    const expected: string[] = [];
    for (let round = 0; round < 5; round++) {
      const at = metering.time.now();
      await record([refusal(account, at), refusal(account, at)]);
      clock.advance(500);
      expected.unshift(await finish(), `req_${at}`, `req_${at}`);
      clock.advance(500);
    }
    for (const pageSize of [1, 2, 3, 100]) {
      const all = await readAll(
        (page) => list(metering, { ...page, pageSize, accountId: account }),
        ({ requests }) => requests,
      );
      expect(all.map(({ requestId }) => requestId)).toEqual(expected);
    }
    await metering.close();
  });

  test("a finished one has an empty reason, a refused one its own, and each has its facts", async () => {
    const { metering, account, finish, record } = await start();
    const requestId = await finish();
    const at = metering.time.now() + 5;
    await record([refusal(account, at, { server: "gpu-1", leftOut: 7 })]);
    const { requests } = await list(metering);
    expect(requests).toMatchObject([
      {
        ...{ requestId: `req_${at}`, accountId: account, keyId: "k", surface: "chat", model: testModel },
        ...{ reason: "RATE_LIMITED", httpStatus: 429, durationMs: 3n, server: "gpu-1", leftOut: 7n },
        at: timestampFromMs(at),
      },
      { requestId, accountId: account, reason: "" },
    ]);
    await metering.close();
  });

  test("filters leave what matches all of them", async () => {
    const { metering, account, finish, record } = await start();
    const requestId = await finish();
    const now = metering.time.now();
    const other = await metering.account();
    await record([
      refusal(account, now - 10_000),
      refusal(other, now - 9000, { keyId: "z" }),
      refusal(undefined, now - 8000, { reason: "UNAUTHENTICATED", model: "", keyId: "" }),
    ]);
    const ids = async (asked: object) =>
      (await list(metering, asked)).requests.map((found) =>
        found.requestId === requestId ? "finished" : now - Number(found.requestId.slice(4)),
      );
    expect(await ids({})).toEqual(["finished", 8000, 9000, 10_000]);
    expect(await ids({ accountId: account })).toEqual(["finished", 10_000]);
    expect(await ids({ accountId: "none" })).toEqual([]);
    expect(await ids({ keyId: "z" })).toEqual([9000]);
    expect(await ids({ reason: "UNAUTHENTICATED" })).toEqual([8000]);
    expect(await ids({ model: testModel, outcome: RequestOutcome.REFUSED })).toEqual([9000, 10_000]);
    expect(await ids({ outcome: RequestOutcome.FINISHED })).toEqual(["finished"]);
    expect(await ids({ requestId })).toEqual(["finished"]);
    const span = { from: timestampFromMs(now - 9000), to: timestampFromMs(now - 8000) };
    expect(await ids(span)).toEqual([9000]);
    await metering.close();
  });

  test("a run that failed is listed once, with its reason", async () => {
    const { metering, account, clock, record } = await start();
    const wanted = request(account, { inputTokens: 10, outputTokens: 20 });
    const hold = await clock.until(metering.ledger.hold(wanted, never));
    await clock.until(hold.settle({ inputTokens: 10, outputTokens: 2 }, "failed", {}));
    const { requestId } = wanted;
    expect((await list(metering)).requests).toMatchObject([{ requestId, reason: "" }]);
    await record([refusal(account, metering.time.now(), { requestId, reason: "ENGINE_FAILED" })]);
    expect((await list(metering)).requests).toMatchObject([{ requestId, reason: "ENGINE_FAILED" }]);
    await metering.close();
  });

  test("beyond its bounds the oldest leave the record", async () => {
    const { metering, record } = await start();
    const count = () => metering.storage.orm.em.fork().count(RequestRecord);
    await record(Array.from({ length: 30 }, (_, at) => refusal(v7(), 1000 + at)));
    await record([], { before: 1010, most: 1000 });
    expect(await count()).toBe(20);
    await record([], { before: 0, most: 5 });
    expect(await count()).toBe(5);
    expect((await list(metering)).requests.map(({ requestId }) => requestId)).toEqual(
      [1029, 1028, 1027, 1026, 1025].map((at) => `req_${at}`),
    );
    await metering.close();
  });
});
