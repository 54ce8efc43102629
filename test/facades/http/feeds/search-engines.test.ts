import { expect, test } from "@jest/globals";
import { ModelKind } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { startFront } from "../front-server.ts";
import { scriptedCore } from "../scripted-core.ts";

const models = ["deepseek/deepseek-v4", "a&b c"].map((id) => ({ id, kind: ModelKind.GENERATION }));
const { transport } = scriptedCore({ models });

test("search engines find the pages and not the API", async () => {
  await using front = await startFront(transport);
  const robots = await fetch(`${front.url}/robots.txt`);
  expect([robots.headers.get("content-type"), await robots.text()]).toEqual([
    "text/plain; charset=utf-8",
    `User-agent: *\nAllow: /$\nAllow: /models/\nAllow: /status$\nAllow: /sitemap.xml$\nDisallow: /\nSitemap: ${front.url}/sitemap.xml\n`,
  ]);
  const sitemap = await fetch(`${front.url}/sitemap.xml`);
  expect(sitemap.headers.get("content-type")).toBe("application/xml; charset=utf-8");
  const locations = Array.from((await sitemap.text()).matchAll(/<loc>(.*)<\/loc>/g), ([, url = ""]) => url);
  const paths = ["/", "/models/deepseek/deepseek-v4", "/models/a%26b%20c", "/status"];
  expect(locations).toEqual(paths.map((path) => front.url + path));
  for (const url of locations) {
    expect((await fetch(url, { headers: { accept: "text/html" } })).status).toBe(200);
  }
});

test("behind a proxy of our own that ends TLS every address is https; nobody else may say so", async () => {
  const headers = { accept: "text/html", "x-forwarded-proto": "https" };
  await using behind = await startFront(transport, { isTrustedProxy: () => true });
  await using open = await startFront(transport);
  for (const path of ["/robots.txt", "/sitemap.xml", "/", "/models/deepseek/deepseek-v4"]) {
    const secure = await (await fetch(behind.url + path, { headers })).text();
    expect(secure).toContain(behind.url.replace("http:", "https:"));
    expect(secure).not.toContain(behind.url);
    expect(await (await fetch(open.url + path, { headers })).text()).toContain(open.url);
  }
});
