import { expect, test } from "@jest/globals";
import { renderHome, wantsPage } from "../../../../facades/http/home/page.ts";
import { startFront } from "../front-server.ts";
import { scriptedCore } from "../scripted-core.ts";

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

test("a browser is shown what is served, other clients the JSON that they know", async () => {
  await using front = await startFront(scriptedCore().transport);
  const page = await fetch(front.url, { headers: { accept: browser } });
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(await page.text()).toContain(`<code>${front.url}/v1</code>`);
  const json = await fetch(front.url);
  expect(await json.json()).toEqual({ name: "tollgate", openapi: "/openapi.json" });
});

test("what a client names itself is text on the page", () => {
  const html = renderHome([], { baseUrl: 'http://"><script>alert(1)</script>', hasSignIn: true });
  expect(html).not.toContain("<script>");
  expect(html).toContain('<a href="/sign-in">');
});
