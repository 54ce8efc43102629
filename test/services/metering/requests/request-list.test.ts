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

  /** The requests of a list, page by page, where an answer looks at few rows. */
  async function walk({ storage }: Metering, asked: object, pageSize: number): Promise<string[][]> {
    const pages: string[][] = [];
    for (let pageToken = ""; ; ) {
      const page = create(ListRequestsRequestSchema, { ...asked, pageSize, pageToken });
      const answer = await listRequests(storage, page, undefined, 4);
      pages.push(answer.requests.map(({ requestId }) => requestId));
      pageToken = answer.nextPageToken;
      if (pageToken === "") {
        return pages;
      }
    }
  }

  test("a filter that no index knows looks back a share an answer, and the answers after it further, to the end", async () => {
    const { metering, account, clock, finish, record } = await start();
    const other = await metering.account({ paid: usd });
    const begin = metering.time.now();
    const rare = { model: "rare", keyId: "z", reason: "TIMEOUT" };
    const refused = Array.from({ length: 20 }, (_, at) => {
      const facts = { ...(at % 8 === 3 && rare), requestId: `req_${at}` };
      return refusal(at % 2 === 0 ? other : account, begin + at * 100, facts);
    });
    await record(refused);
    clock.advance(2000);
    for (let at = 0; at < 6; at++) {
      await finish();
      clock.advance(100);
    }
    const filters = [{ model: "rare" }, { reason: "TIMEOUT" }, { keyId: "z" }, { accountId: account, model: "rare" }];
    const walks = filters.flatMap((asked) => [1, 2, 100].map((pageSize) => [asked, pageSize] as const));
    for (const [asked, pageSize] of walks) {
      const looks = await walk(metering, asked, pageSize);
      expect(looks.flat()).toEqual(["req_19", "req_11", "req_3"]);
      expect(looks.length).toBeGreaterThan(1);
      expect(looks.at(0)).toEqual("reason" in asked ? ["req_19"] : []);
    }
    const within = { from: timestampFromMs(begin + 300), to: timestampFromMs(begin + 1900) };
    expect((await walk(metering, { model: "rare", ...within }, 100)).flat()).toEqual(["req_11", "req_3"]);
    expect((await walk(metering, { model: "none" }, 100)).flat()).toEqual([]);
    const all = (await walk(metering, { model: testModel }, 3)).flat();
    expect([all.length, new Set(all).size]).toEqual([23, 23]);
    // What an index knows is read at once.
    expect(await walk(metering, { accountId: other }, 100)).toHaveLength(1);
    expect(await walk(metering, { requestId: "req_3", accountId: account, model: "rare" }, 100)).toEqual([["req_3"]]);
    await metering.close();
  });

  test("a page token of another answer is refused, whatever it begins after", async () => {
    const { metering } = await start();
    const token = (key: string) => {
      const filters = ["", "", "", "rare", "", RequestOutcome.UNSPECIFIED, undefined, undefined];
      return Buffer.from(JSON.stringify([`requests of ${JSON.stringify(filters)}`, key])).toString("base64url");
    };
    for (const key of ["5 e", "5.25 e", "5 r 7"]) {
      expect(await list(metering, { model: "rare", pageToken: token(key) })).toMatchObject({ requests: [] });
    }
    for (const key of ["5", "e", "5 x", "5 e 7", "-5 e"]) {
      await expect(list(metering, { model: "rare", pageToken: token(key) })).rejects.toThrow("The page token");
    }
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
