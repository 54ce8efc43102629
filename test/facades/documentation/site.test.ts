import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createSite } from "../../../facades/documentation/site.ts";

const text = (value: string) => new TextEncoder().encode(value);
const files = new Map([
  ["index.html", text("home")],
  ["404.html", text("nowhere")],
  ["docs/money.html", text("money")],
  ["docs/decisions/index.html", text("decisions")],
  ["assets/app-1.js", text("script")],
  ["files/alerts.yaml", text("alerts")],
]);
const server = createServer(createSite(files));

beforeAll(() => once(server.listen(0, "127.0.0.1"), "listening"));
afterAll(() => void server.close());

/** Sends a path as it is, which fetch would tidy. */
async function ask(method: string, path: string) {
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, method, path, agent: false }).end();
  const [response] = await once(sent, "response");
  const chunks = await response.toArray();
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() };
}

test.each([
  ["/", "home"],
  ["/?theme=dark", "home"],
  ["/docs/money", "money"],
  ["/docs/money.html", "money"],
  ["/docs/decisions", "decisions"],
  ["/docs/decisions/", "decisions"],
  ["/assets/app-1.js", "script"],
  ["/files/alerts.yaml", "alerts"],
])("%s is found", async (path, body) => {
  expect(await ask("GET", path)).toMatchObject({ status: 200, body });
});

test.each(["/docs/none", "/../package.json", "/%2e%2e/package.json", "/docs//money", "/docs"])(
  "%s leads nowhere, and the answer is a page",
  async (path) => {
    const { status, headers, body } = await ask("GET", path);
    expect([status, headers["content-type"], body]).toEqual([404, "text/html; charset=utf-8", "nowhere"]);
  },
);

test("it is only read, and nothing of it runs inside another site", async () => {
  expect(await ask("POST", "/")).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
  const { body, headers } = await ask("HEAD", "/docs/money");
  expect([body, headers["content-length"]]).toEqual(["", "5"]);
  expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  expect(headers["x-content-type-options"]).toBe("nosniff");
});
