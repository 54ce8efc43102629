import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { OperatorsService } from "#gen/tollgate/operators/v1/operators_service_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { type ConsoleService, readCookie, startConsoleService } from "../console-service.ts";

let started: ConsoleService;
beforeAll(async () => {
  started = await startConsoleService();
}, 60_000);
afterAll(async () => {
  await started?.[Symbol.asyncDispose]();
});

const sessions = () => createClient(SessionsService, started.service.operator);
const link = async (role = Role.UNSPECIFIED) => `/link/${(await sessions().createSignInLink({ role })).token}`;
const { getAccount } = AccountsService.method;

test("an operator's token and an API key open sessions of their roles", async () => {
  const owner = await started.fetchAsPage("/session", await started.asOwner());
  expect(await owner.json()).toMatchObject({ role: "owner", name: "root", accountId: "", insecure: false });
  const customer = await (await started.fetchAsPage("/session", await started.asCustomer())).json();
  expect(customer).toMatchObject({ role: "customer", name: "", accountId: expect.stringMatching(/./) });
});

test("the cookie is for this host alone and no script", async () => {
  const response = await started.fetchAsPage(await link());
  expect(response.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^__Host-tollgate=tgco_\w{49}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/),
  ]);
});

test.each([
  [{ operatorToken: "wrong" }, 401],
  [{ apiKey: "tg-wrong" }, 401],
  [{ apiKey: "tg-wrong\r\nx: y" }, 401],
  [{ apiKey: 5 }, 400],
  [{}, 400],
  [{ operatorToken: "a", apiKey: "b" }, 400],
  [{ apiKey: "x".repeat(5000) }, 400],
])("%j is refused with %d and no cookie", async (body, status) => {
  const response = await started.fetchAsPage("/session", undefined, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect([response.status, response.headers.getSetCookie()]).toEqual([status, []]);
});

test("a session of before the sign-in is not taken over, and ends", async () => {
  const before = await started.asOwner();
  const response = await started.fetchAsPage("/session", before, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apiKey: started.service.key }),
  });
  expect(readCookie(response)).not.toBe(before);
  expect((await started.fetchAsPage("/session", before)).status).toBe(401);
  expect(await (await started.fetchAsPage("/session", readCookie(response))).json()).toMatchObject({
    role: "customer",
  });
});

test("who signs out is out everywhere", async () => {
  const cookie = await started.asOwner();
  const response = await started.fetchAsPage("/session", cookie, { method: "DELETE" });
  expect([response.status, response.headers.getSetCookie()[0]]).toEqual([
    204,
    expect.stringMatching(/^__Host-tollgate=;/),
  ]);
  expect((await started.fetchAsPage("/session", cookie)).status).toBe(401);
  expect((await started.call(getAccount, cookie)).status).toBe(401);
});

test("a link signs in once; used, it is a page that names the command", async () => {
  const path = await link(Role.READER);
  const response = await started.fetchAsPage(path);
  expect([response.status, response.headers.get("location")]).toEqual([303, "/overview"]);
  expect(await (await started.fetchAsPage("/session", readCookie(response))).json()).toMatchObject({
    role: "reader",
  });
  const again = await started.fetchAsPage(path);
  expect([again.status, again.headers.getSetCookie(), await again.text()]).toEqual([
    410,
    [],
    expect.stringContaining("tollgate console-link"),
  ]);
});

test("of many who follow a link at once, one is let in", async () => {
  const path = await link();
  const responses = await Promise.all(Array.from({ length: 8 }, () => started.fetchAsPage(path)));
  expect(responses.map(({ status }) => status).sort()).toEqual([303, ...Array(7).fill(410)]);
});

test("a link that another site leads to asks before it replaces a session; one fetched ahead stays good", async () => {
  const path = await link();
  const ahead = await fetch(started.console.url + path, { headers: { "sec-purpose": "prefetch" } });
  expect(ahead.status).toBe(503);
  const response = await fetch(started.console.url + path, { headers: { "sec-fetch-site": "cross-site" } });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("Sign in by this link")]);
  expect(response.headers.get("set-cookie")).toBeNull();
  const gone = await started.fetchAsPage(path); // as a click on that page's own link
  expect([gone.status, gone.headers.get("location")]).toEqual([303, "/overview"]);
  expect(readCookie(gone)).toMatch(/^__Host-tollgate=tgco_/);
});

test("no role gives a higher one away, and a session opens no other", async () => {
  const { token } = await createClient(OperatorsService, started.service.operator).createOperator({
    name: "Rita",
    role: Role.READER,
  });
  const headers = { authorization: `Bearer ${token}` };
  const client = createClient(SessionsService, started.service.transport);
  await expect(client.createSignInLink({ role: Role.OWNER }, { headers })).rejects.toThrow("gives no higher one");
  const own = await client.createSession({}, { headers });
  const asSession = { headers: { authorization: `Bearer ${own.token}` } };
  await expect(client.createSession({}, asSession)).rejects.toThrow("A session opens no other one");
  await expect(client.createSignInLink({ role: Role.READER }, asSession)).rejects.toThrow("A session may not do this");
});
