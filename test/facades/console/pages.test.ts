import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "@jest/globals";
import { isSameOrigin } from "../../../facades/console/calls/same-origin.ts";
import type { Reach } from "../../../facades/console/dependencies.ts";
import { isPage } from "../../../facades/console/pages/page-paths.ts";
import { setSecurityHeaders } from "../../../facades/console/pages/security-headers.ts";
import { readToken, sessionCookie } from "../../../facades/console/sessions/cookie.ts";
import { sendFile } from "../../../facades/http/site/static-files.ts";

const chromium =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36";
const safari =
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15";
const token = `tgco_${"a".repeat(49)}`;

function requestWith(headers: IncomingMessage["headers"], method = "POST"): IncomingMessage {
  return { headers: { host: "127.0.0.1:8081", ...headers }, method } as IncomingMessage;
}

test("files are sent in the best encoding that the browser takes, hashed ones for good", async () => {
  const text = (value: string) => new TextEncoder().encode(value);
  const files = new Map([
    ["index.html", text("page")],
    ["assets/app-1.js", text("plain")],
    ["assets/app-1.js.br", text("brotli")],
    ["assets/app-1.js.gz", text("gzip")],
    ["assets/app-1.js.map", text("source")],
  ]);
  const server = createServer((request, response) => {
    if (!sendFile(files, request.url?.slice(1) ?? "", request, response)) {
      response.writeHead(404).end();
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const get = async (path: string, encoding: string) => {
    const response = await fetch(url + path, { headers: { "accept-encoding": encoding }, method: "HEAD" });
    const { headers } = response;
    return [
      response.status,
      headers.get("content-encoding"),
      headers.get("content-length"),
      headers.get("cache-control"),
    ];
  };
  const forever = "public, max-age=31536000, immutable";
  expect(await get("/assets/app-1.js", "gzip, deflate, br")).toEqual([200, "br", "6", forever]);
  expect(await get("/assets/app-1.js", "gzip, br;q=0")).toEqual([200, "gzip", "4", forever]);
  expect(await get("/assets/app-1.js", "identity")).toEqual([200, null, "5", forever]);
  expect(await get("/index.html", "br")).toEqual([200, null, "4", "no-store"]);
  for (const path of ["/assets/app-1.js.map", "/assets/app-1.js.br", "/assets/../index.htm", "/assets/none.js"]) {
    expect((await get(path, "br"))[0]).toBe(404);
  }
  server.close();
});

test.each<[Reach, string, string, string]>([
  ["tls", "console.example.com", safari, "__Host-tollgate"],
  ["loopback", "127.0.0.1:8081", chromium, "__Host-tollgate"],
  ["loopback", "localhost:8081", "curl/8.0", "__Host-tollgate"],
  ["loopback", "localhost:8081", safari, "tollgate"],
  ["loopback", "console.example.com", safari, "__Host-tollgate"],
  ["insecure", "10.0.0.5:8081", chromium, "tollgate"],
])("over %s at %s, %s has the cookie %4$s", (reach, host, agent, name) => {
  const headers = { host, "user-agent": agent };
  const cookie = sessionCookie(token, requestWith(headers), reach);
  expect(cookie.startsWith(`${name}=${token}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict`)).toBe(true);
  expect(cookie.endsWith("; Secure")).toBe(name !== "tollgate");
  expect(readToken(requestWith({ ...headers, cookie: `a=b; ${name}=${token}` }), reach)).toBe(token);
  const other = name === "tollgate" ? "__Host-tollgate" : "tollgate";
  expect(readToken(requestWith({ ...headers, cookie: `${other}=${token}` }), reach)).toBeUndefined();
});

test.each<[Reach, Record<string, string>, boolean]>([
  ["loopback", { "sec-fetch-site": "same-origin" }, true],
  ["loopback", { "sec-fetch-site": "same-site" }, false],
  ["loopback", { "sec-fetch-site": "none" }, false],
  ["loopback", {}, false],
  ["loopback", { origin: "http://127.0.0.1:8081" }, false],
  ["tls", { origin: "https://127.0.0.1:8081" }, false],
  // Browsers say nothing of the site over plain HTTP beyond loopback.
  ["insecure", { origin: "http://127.0.0.1:8081" }, true],
  ["insecure", { origin: "http://127.0.0.1:9000" }, false],
  ["insecure", {}, false],
  ["insecure", { origin: "http://127.0.0.1:8081", "sec-fetch-site": "cross-site" }, false],
])("over %s, a call with %j is the console's own: %s", (reach, headers, isOwn) => {
  expect(isSameOrigin(requestWith(headers), reach)).toBe(isOwn);
});

test.each(["/", "/overview", "/accounts/0199", "/models/org/name", "/receipts/req_1", "/sign-in"])(
  "%s is a page",
  (path) => expect(isPage(path)).toBe(true),
);

test.each(["/accounts/", "/accounts/a/b", "/nothing", "/models/", "/Overview", ""])("%s is none", (path) =>
  expect(isPage(path)).toBe(false),
);

test.each<[Reach, string | undefined]>([
  ["tls", "max-age=31536000"],
  ["loopback", undefined],
  ["insecure", undefined],
])("over %s browsers are told of TLS: %s", (reach, told) => {
  const headers = new Map<string, string>();
  setSecurityHeaders({ setHeader: (name: string, value: string) => headers.set(name, value) } as never, reach);
  expect(headers.get("strict-transport-security")).toBe(told);
});
