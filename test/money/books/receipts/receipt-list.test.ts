import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { ListReceiptsRequestSchema } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { listReceipts } from "#src/money/books/receipts/receipt-list.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../../databases.ts";
import { type Metering, openMetering, request, run, testModel, usd } from "../../fixture.ts";

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  /** The receipts of a list, page by page, where an answer looks at few rows. */
  async function walk({ storage }: Metering, asked: object, pageSize: number, share: number): Promise<string[][]> {
    const pages: string[][] = [];
    for (let pageToken = ""; pages.length < 100; ) {
      const page = create(ListReceiptsRequestSchema, { ...asked, pageSize, pageToken });
      const answer = await listReceipts(storage, page, undefined, share);
      pages.push(answer.receipts.map(({ requestId }) => requestId));
      pageToken = answer.nextPageToken;
      if (pageToken === "") {
        return pages;
      }
    }
    throw new Error("the list has no end");
  }

  test("a filter that no index knows looks back a share an answer, and the answers after it further, to the end", async () => {
    const clock = new ManualClock(Date.now());
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const [account, other] = [await metering.account({ paid: usd }), await metering.account({ paid: usd })];
    const settled = Array.from({ length: 20 }, (_, at) => {
      const isRare = at % 8 === 3;
      const labels = JSON.stringify({ team: isRare ? "few" : "most" });
      const tokens = { inputTokens: 10, outputTokens: 20 };
      return { isRare, wanted: request(at % 2 === 0 ? other : account, tokens, { keyId: isRare ? "z" : "k", labels }) };
    });
    for (const [at, { wanted }] of settled.entries()) {
      await clock.until(run(metering.ledger, wanted));
      clock.advance(at < 10 ? 0 : 100); // receipts of one time, too
    }
    const ids = (which: (one: (typeof settled)[number]) => boolean) =>
      settled.filter(which).map(({ wanted }) => wanted.requestId);
    const found = async (asked: object, pageSize: number, share: number) => {
      const pages = await walk(metering, asked, pageSize, share);
      return { answers: pages.length, ids: pages.flat().toSorted() };
    };
    const rare = ids(({ isRare }) => isRare).toSorted();
    const byLabel = { labelName: "team", labelValue: "few" };
    const filters = [{ keyId: "z" }, byLabel, { accountId: account, keyId: "z" }, { model: testModel, ...byLabel }];
    const sizes = [
      { pageSize: 1, share: 4 },
      { pageSize: 2, share: 4 },
      { pageSize: 100, share: 4 },
      { pageSize: 100, share: 1 },
    ];
    for (const [asked, { pageSize, share }] of filters.flatMap((asked) =>
      sizes.map((size) => [asked, size] as const),
    )) {
      const { answers, ...rest } = await found(asked, pageSize, share);
      expect(rest).toEqual({ ids: rare });
      expect(answers).toBeGreaterThan(1);
    }
    expect((await found({ model: testModel }, 3, 4)).ids).toEqual(ids(() => true).toSorted());
    expect((await found({ keyId: "nobody's" }, 100, 4)).ids).toEqual([]);
    // What an index knows is read at once.
    const own = ids(({ wanted }) => wanted.accountId === account).toSorted();
    expect(await found({ accountId: account }, 100, 4)).toEqual({ answers: 1, ids: own });
    expect(await found({ requestId: rare[0], keyId: "z" }, 100, 4)).toEqual({ answers: 1, ids: [rare[0]] });
    await metering.close();
  });
});
