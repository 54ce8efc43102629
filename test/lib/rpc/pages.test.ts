import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { CutPage, type PageRequest, pageSizes, readAll, readPage, toPageOf } from "#lib/rpc/pages.ts";

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

test("a page that ends early is followed by one that begins where it says, else after its last entry", async () => {
  const cut = async (entries: readonly string[], after?: string) => {
    const page = await readPage("names", { pageSize: 2, pageToken: "" }, async () => new CutPage(entries, after), self);
    const { nextPageToken: pageToken } = page;
    const next = await readPage("names", { pageSize: 2, pageToken }, ({ after = "none" }) => [after], self);
    return [page.entries, pageToken !== "", next.entries];
  };
  expect(await cut([], "b")).toEqual([[], true, ["b"]]);
  expect(await cut(["a"], "b")).toEqual([["a"], true, ["b"]]);
  expect(await cut(["a"])).toEqual([["a"], true, ["a"]]);
  expect(await cut([])).toEqual([[], false, ["none"]]);
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
