import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "../../../lib/errors/detail.ts";
import {
  mergeLists,
  type PageRequest,
  type PageStart,
  pageSizes,
  readAll,
  readPage,
  toPageOf,
} from "../../../lib/rpc/pages.ts";

const self = (text: string) => text;
const names = (count: number) => Array.from({ length: count }, (_, at) => `entry ${at}`);
const server =
  (entries: readonly string[], list = "names") =>
  async (request: Partial<PageRequest>) => {
    const page = { pageSize: 0, pageToken: "", ...request };
    const { entries: found, nextPageToken } = await readPage(list, page, toPageOf(entries, self), self);
    return { found, nextPageToken };
  };

test.each([
  [0, pageSizes.usual],
  [7, 7],
  [pageSizes.most, pageSizes.most],
  [1_000_000_000, pageSizes.most],
])("a page of size %d has %d entries", async (pageSize, entries) => {
  expect((await server(names(2000))({ pageSize })).found).toHaveLength(entries);
});

test.each([0, 1, 2, 3, 999, 1000, 1001, 2500])("all of %d entries are read, each once and in order", async (count) => {
  const ask = server(names(count));
  const all = await readAll(ask, ({ found }) => found);
  expect(all).toEqual(names(count));
  const few = await readAll(ask, ({ found }) => found, 2);
  expect(few).toEqual(names(count).slice(0, 2));
});

test("an entry that comes or goes elsewhere moves no other to another page", async () => {
  const { nextPageToken: pageToken } = await server(["b", "d", "f"])({ pageSize: 2 });
  expect((await server(["a", "d", "e", "f"])({ pageSize: 2, pageToken })).found).toEqual(["e", "f"]);
});

test("wrong pages are refused by their field", async () => {
  const { nextPageToken } = await server(names(3))({ pageSize: 1 });
  const wrong: [Partial<PageRequest>, string, (readonly string[])?, string?][] = [
    [{ pageToken: "x" }, "page_token"],
    [{ pageToken: `${nextPageToken}=` }, "page_token"],
    [{ pageToken: Buffer.from('["names"]').toString("base64url") }, "page_token"],
    [{ pageToken: Buffer.from('["names","\\u0000"]').toString("base64url") }, "page_token"],
    [{ pageToken: nextPageToken }, "page_token", names(3), "other names"],
    [{ pageToken: nextPageToken }, "page_token", ["the rest alone"]],
  ];
  for (const [request, parameter, entries = names(3), list] of wrong) {
    const error = await server(entries, list)(request).catch((refusal: unknown) => refusal);
    expect(readDetail(error)).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter });
  }
});

test("the pages of several lists are those of one, and of each no more is read than a page may have", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uniqueArray(fc.nat(500)), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 20 }),
      async (numbers, pageSize) => {
        // Entries of different lists never have the same key.
        const lists = numbers.map((own, at) => own.map((number) => `${String(number).padStart(3, "0")} ${at}`).sort());
        const most: number[] = [];
        const read = (list: readonly string[]) => {
          return ({ after, limit }: PageStart) => {
            const found = list.filter((entry) => after === undefined || entry > after).slice(0, limit);
            most.push(found.length);
            return found;
          };
        };
        const merged = mergeLists(lists.map(read), (one, other) => (one < other ? -1 : 1));
        const ask = async (page: PageRequest) => {
          const { entries: found, nextPageToken } = await readPage("merged", { ...page, pageSize }, merged, self);
          return { found, nextPageToken };
        };
        expect(await readAll(ask, ({ found }) => found)).toEqual(lists.flat().sort());
        expect(Math.max(...most)).toBeLessThanOrEqual(pageSize + 1);
      },
    ),
    { numRuns: 50 },
  );
});
