import { expect, test } from "@jest/globals";
import { wantsPage } from "../../../../facades/http/site/page.ts";

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

test.each([
  [browser, true],
  ["text/html", true],
  ["*/*", false],
  ["application/json", false],
  ["application/json, text/htmlx", false],
  [undefined, false],
])("whoever accepts %j gets a page: %s", (accept, isPage) => {
  expect(wantsPage({ headers: accept === undefined ? {} : { accept } })).toBe(isPage);
});
