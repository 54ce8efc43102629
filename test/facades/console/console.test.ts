import { once } from "node:events";
import { connect } from "node:net";
import type { DescMethod } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { OperatorsService } from "#gen/tollgate/operators/v1/operators_service_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { models } from "../../support/service.ts";
import { type ConsoleService, fromPage, pathOf, readCookie, startConsoleService } from "./console-service.ts";

let started: ConsoleService;
beforeAll(async () => {
  started = await startConsoleService();
}, 60_000);
afterAll(async () => {
  await started?.[Symbol.asyncDispose]();
});

const asOwner = () => started.signIn({ operatorToken: started.service.operatorToken });
const asCustomer = () => started.signIn({ apiKey: started.service.key });
const sessions = () => createClient(SessionsService, started.service.operator);
const link = async (role = Role.UNSPECIFIED) => `/link/${(await sessions().createSignInLink({ role })).token}`;
const { getAccount, createAccount, listKeys } = AccountsService.method;

describe("sign-in", () => {
  test("an operator's token and an API key open sessions of their roles", async () => {
    const owner = await started.fetchAsPage("/session", await asOwner());
    expect(await owner.json()).toMatchObject({ role: "owner", name: "root", accountId: "", insecure: false });
    const customer = await (await started.fetchAsPage("/session", await asCustomer())).json();
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
    const before = await asOwner();
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
    const cookie = await asOwner();
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
    await expect(client.createSignInLink({ role: Role.READER }, asSession)).rejects.toThrow(
      "A session may not do this",
    );
  });
});

describe("pages", () => {
  test.each(["/overview", "/accounts/a-b", "/models/org/model", "/receipts/req_1?x=1"])(
    "signed out, %s leads to the sign-in and back",
    async (path) => {
      const response = await started.fetchAsPage(path);
      expect([response.status, response.headers.get("location")]).toEqual([
        303,
        `/sign-in?next=${encodeURIComponent(path)}`,
      ]);
    },
  );

  test("signed out, the first page is the public one, with a way in; programs get JSON", async () => {
    const page = await started.fetchAsPage("/", undefined, { headers: { accept: "text/html" } });
    const html = await page.text();
    expect(html).toContain('href="/sign-in"');
    expect(html).toContain(models.plain);
    expect(html).toContain(`${started.service.url}/v1`);
    expect(await (await started.fetchAsPage("/")).json()).toMatchObject({ name: "tollgate" });
  });

  test("every answer says what a browser must not do", async () => {
    for (const path of ["/overview", "/sign-in", "/nowhere", "/session", "/link/x", pathOf(getAccount)]) {
      const { headers } = await started.fetchAsPage(path);
      expect(headers.get("content-security-policy")).toMatch(
        /^default-src 'none'; .*frame-ancestors 'none'.*require-trusted-types-for 'script'/,
      );
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
    }
  });

  test("what is no page is not found, and what is read alone takes no other method", async () => {
    expect((await started.fetchAsPage("/nowhere")).status).toBe(404);
    expect((await started.fetchAsPage("/overview", undefined, { method: "PUT" })).status).toBe(405);
  });
});

describe("calls", () => {
  test("nothing of a body is read for a made-up cookie", async () => {
    const { port } = new URL(started.console.url);
    const socket = connect(Number(port), "127.0.0.1");
    const cookie = `tgco_${"a".repeat(49)}`;
    socket.write(
      `POST ${pathOf(createAccount)} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncookie: __Host-tollgate=${cookie}\r\n` +
        "sec-fetch-site: same-origin\r\nconnect-protocol-version: 1\r\ncontent-type: application/json\r\n" +
        "content-length: 4000000\r\n\r\n{",
    );
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 401 /);
    socket.destroy();
  });

  test("signed out, a call is unauthenticated", async () => {
    const response = await started.call(getAccount, undefined);
    expect([response.status, await response.json()]).toEqual([
      401,
      expect.objectContaining({ code: "unauthenticated" }),
    ]);
    const forged = await started.call(getAccount, `__Host-tollgate=tgco_${"a".repeat(49)}`);
    expect(forged.status).toBe(401);
  });

  test.each([
    ["another site", { "sec-fetch-site": "cross-site" }],
    ["another port of this host", { "sec-fetch-site": "same-site" }],
    ["nobody who says so", { "sec-fetch-site": undefined }],
    ["a form", { "connect-protocol-version": undefined }],
  ])("a call from %s changes nothing", async (_, headers) => {
    const all = { ...fromPage, "connect-protocol-version": "1", ...headers };
    const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const response = await fetch(started.console.url + pathOf(createAccount), {
      method: "POST",
      headers: { "content-type": "application/json", cookie: await asOwner(), ...Object.fromEntries(given) },
      body: '{"name":"forged"}',
    });
    expect([response.status, await response.json()]).toEqual([
      403,
      expect.objectContaining({ code: "permission_denied" }),
    ]);
    const { accounts } = await createClient(AccountsService, started.service.operator).listAccounts({});
    expect(accounts.map(({ name }) => name)).not.toContain("forged");
  });

  test("a credential or an address that a page sends itself is not passed on", async () => {
    const response = await started.fetchAsPage(pathOf(createAccount), await asCustomer(), {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "connect-protocol-version": "1",
        authorization: `Bearer ${started.service.operatorToken}`,
        "x-tollgate-account": started.demoAccountId,
      },
      body: "{}",
    });
    expect(response.status).toBe(403);
  });

  test.each<[string, DescMethod | string]>([
    ["one that no page makes", InferenceService.method.countTokens],
    ["one about sessions", SessionsService.method.createSignInLink],
    ["one that there is not", "/tollgate.accounts.v1.AccountsService/Nothing"],
    ["one of another service", "/grpc.health.v1.Health/Check"],
  ])("a call on no list is denied to the owner: %s", async (_, method) => {
    const path = typeof method === "string" ? method : pathOf(method);
    const response = await started.fetchAsPage(path, await asOwner(), {
      method: "POST",
      headers: { "content-type": "application/json", "connect-protocol-version": "1" },
      body: "{}",
    });
    expect([response.status, await response.json()]).toEqual([
      403,
      expect.objectContaining({ code: "permission_denied" }),
    ]);
  });

  test("an owner changes what it may, under its name", async () => {
    const response = await started.call(createAccount, await asOwner(), { name: "by the console" });
    expect(await response.json()).toMatchObject({ account: { name: "by the console" } });
  });

  test("a customer sees its own account, and public prices", async () => {
    const cookie = await asCustomer();
    const { accountId, keyId } = (await (await started.fetchAsPage("/session", cookie)).json()) as Record<
      string,
      string
    >;
    expect(await (await started.call(getAccount, cookie)).json()).toMatchObject({ account: { id: accountId } });
    expect(await (await started.call(listKeys, cookie, { accountId })).json()).toMatchObject({ keys: [{ id: keyId }] });
    expect((await started.call(CatalogueService.method.listModels, cookie)).status).toBe(200);
  });

  test("a customer's session ends with its key", async () => {
    const apiKey = await started.service.anotherKey();
    const cookie = await started.signIn({ apiKey });
    const { keyId } = (await (await started.fetchAsPage("/session", cookie)).json()) as Record<string, string>;
    await createClient(AccountsService, started.service.operator).revokeKey({ keyId: keyId ?? "" });
    expect((await started.call(getAccount, cookie)).status).toBe(401);
  });
});

describe("playground", () => {
  // The sign-ins of a minute are used up.
  beforeAll(async () => {
    await started[Symbol.asyncDispose]();
    started = await startConsoleService();
  });

  const chat = (cookie: string | undefined, key: string) =>
    started.fetchAsPage("/v1/chat/completions", cookie, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: models.plain, messages: [{ role: "user", content: "Hello" }], max_tokens: 8 }),
    });

  test("the surfaces answer a pasted key of whoever is signed in", async () => {
    const response = await chat(await asCustomer(), started.service.key);
    expect([response.status, await response.json()]).toEqual([
      200,
      expect.objectContaining({ object: "chat.completion" }),
    ]);
    expect(response.headers.get("x-request-id")).toMatch(/./);
  });

  test("signed out, or from elsewhere, they do not", async () => {
    expect((await chat(undefined, started.service.key)).status).toBe(401);
    const elsewhere = await fetch(`${started.console.url}/v1/models`, { headers: { cookie: await asOwner() } });
    expect(elsewhere.status).toBe(403);
  });

  test("an operator's key of the demo account ends with the session", async () => {
    const cookie = await asOwner();
    const made = await started.fetchAsPage("/session/key", cookie, { method: "POST" });
    const { key, accountId } = (await made.json()) as { key: string; accountId: string };
    expect(accountId).toBe(started.demoAccountId);
    expect((await chat(cookie, key)).status).toBe(200);
    await started.fetchAsPage("/session", cookie, { method: "DELETE" });
    expect((await chat(await asOwner(), key)).status).toBe(401);
  });

  test("an operator's key is of the account that is named", async () => {
    const { account } = await createClient(AccountsService, started.service.operator).createAccount({});
    const body = JSON.stringify({ accountId: account?.id });
    const headers = { "content-type": "application/json" };
    const made = await started.fetchAsPage("/session/key", await asOwner(), { method: "POST", headers, body });
    expect(await made.json()).toMatchObject({ accountId: account?.id, key: expect.stringMatching(/^tg-/) });
  });

  test("nobody gets a key made for a session that has ended, and is told so", async () => {
    const cookie = await asOwner();
    await started.fetchAsPage("/session", cookie, { method: "DELETE" });
    const refused = await started.fetchAsPage("/session/key", cookie, { method: "POST" });
    const error = { code: "unauthenticated", message: "Nobody is signed in." };
    expect([refused.status, await refused.json()]).toEqual([401, { error }]);
  });

  test("a customer gets no key made", async () => {
    expect((await started.fetchAsPage("/session/key", await asCustomer(), { method: "POST" })).status).toBe(403);
  });
});
