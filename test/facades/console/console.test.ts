import { once } from "node:events";
import { connect } from "node:net";
import type { DescMethod } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { models } from "../../support/service.ts";
import { type ConsoleService, fromPage, pathOf, startConsoleService } from "./console-service.ts";

let started: ConsoleService;
beforeAll(async () => {
  started = await startConsoleService();
}, 60_000);
afterAll(async () => {
  await started?.[Symbol.asyncDispose]();
});

const { getAccount, createAccount, listKeys } = AccountsService.method;

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
      headers: { "content-type": "application/json", cookie: await started.asOwner(), ...Object.fromEntries(given) },
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
    const response = await started.fetchAsPage(pathOf(createAccount), await started.asCustomer(), {
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
    const response = await started.fetchAsPage(path, await started.asOwner(), {
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
    const response = await started.call(createAccount, await started.asOwner(), { name: "by the console" });
    expect(await response.json()).toMatchObject({ account: { name: "by the console" } });
  });

  test("a customer sees its own account, and public prices", async () => {
    const cookie = await started.asCustomer();
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
