import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { models } from "../../support/service.ts";
import { type ConsoleService, startConsoleService } from "./console-service.ts";

let started: ConsoleService;
beforeAll(async () => {
  started = await startConsoleService();
}, 60_000);
afterAll(async () => {
  await started?.[Symbol.asyncDispose]();
});

const chat = (cookie: string | undefined, key: string) =>
  started.fetchAsPage("/v1/chat/completions", cookie, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: models.plain, messages: [{ role: "user", content: "Hello" }], max_tokens: 8 }),
  });

test("the surfaces answer a pasted key of whoever is signed in", async () => {
  const response = await chat(await started.asCustomer(), started.service.key);
  expect([response.status, await response.json()]).toEqual([
    200,
    expect.objectContaining({ object: "chat.completion" }),
  ]);
  expect(response.headers.get("x-request-id")).toMatch(/./);
});

test("signed out, or from elsewhere, they do not", async () => {
  expect((await chat(undefined, started.service.key)).status).toBe(401);
  const elsewhere = await fetch(`${started.console.url}/v1/models`, { headers: { cookie: await started.asOwner() } });
  expect(elsewhere.status).toBe(403);
});

test("an operator's key of the demo account ends with the session", async () => {
  const cookie = await started.asOwner();
  const made = await started.fetchAsPage("/session/key", cookie, { method: "POST" });
  const { key, accountId } = (await made.json()) as { key: string; accountId: string };
  expect(accountId).toBe(started.demoAccountId);
  expect((await chat(cookie, key)).status).toBe(200);
  await started.fetchAsPage("/session", cookie, { method: "DELETE" });
  expect((await chat(await started.asOwner(), key)).status).toBe(401);
});

test("an operator's key is of the account that is named", async () => {
  const { account } = await createClient(AccountsService, started.service.operator).createAccount({});
  const body = JSON.stringify({ accountId: account?.id });
  const headers = { "content-type": "application/json" };
  const made = await started.fetchAsPage("/session/key", await started.asOwner(), { method: "POST", headers, body });
  expect(await made.json()).toMatchObject({ accountId: account?.id, key: expect.stringMatching(/^tg-/) });
});

test("nobody gets a key made for a session that has ended, and is told so", async () => {
  const cookie = await started.asOwner();
  await started.fetchAsPage("/session", cookie, { method: "DELETE" });
  const refused = await started.fetchAsPage("/session/key", cookie, { method: "POST" });
  const error = { code: "unauthenticated", message: "Nobody is signed in." };
  expect([refused.status, await refused.json()]).toEqual([401, { error }]);
});

test("a customer gets no key made", async () => {
  expect((await started.fetchAsPage("/session/key", await started.asCustomer(), { method: "POST" })).status).toBe(403);
});
