import Anthropic from "@anthropic-ai/sdk";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import OpenAI from "openai";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { models, type Service, startService } from "../support/service.ts";

// The tier of a request in the words of each surface, by the originals' own clients.

let service: Service;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  service = await startService();
  openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: service.url, apiKey: service.key, maxRetries: 0 });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const messages = [{ role: "user" as const, content: "Hi" }];
const asked = { model: models.plain, messages, max_tokens: 5 };

test.each([
  [undefined, undefined],
  [null, undefined],
  ["auto", "default"],
  ["default", "default"],
  ["flex", "flex"],
  ["priority", "default"],
  ["scale", "default"],
] as const)("chat: service_tier %s is answered with %s, whole and streamed", async (wanted, used) => {
  const body = { ...asked, ...(wanted !== undefined && { service_tier: wanted }) };
  expect((await openai.chat.completions.create(body)).service_tier).toBe(used);
  for await (const chunk of await openai.chat.completions.create({ ...body, stream: true })) {
    expect(chunk.service_tier).toBe(used);
  }
});

test.each([
  [undefined, undefined],
  ["auto", "standard"],
  ["standard_only", "standard"],
] as const)("messages: service_tier %s is answered with %s, whole and streamed", async (wanted, used) => {
  const body = { ...asked, ...(wanted !== undefined && { service_tier: wanted }) };
  expect((await anthropic.messages.create(body)).usage.service_tier).toBe(used ?? null);
  for await (const event of await anthropic.messages.create({ ...body, stream: true })) {
    if (event.type === "message_start") {
      expect(event.message.usage.service_tier).toBe(used ?? null);
    }
  }
});

test("another tier is refused, and the refusal names the field", async () => {
  const refused = openai.chat.completions.create({ ...asked, service_tier: "gold" as "auto" });
  await expect(refused).rejects.toMatchObject({ status: 400, type: "invalid_request_error", param: "service_tier" });
  const other = anthropic.messages.create({ ...asked, service_tier: "priority" as "auto" });
  await expect(other).rejects.toMatchObject({ status: 400, message: expect.stringContaining("service_tier") });
});

test("a key has the class that the operator gave it, and no better one than its account", async () => {
  const accounts = createClient(AccountsService, service.operator);
  const accountId = (await accounts.createAccount({})).account?.id ?? "";
  await accounts.topUp({ accountId, amountPicoUsd: 10n ** 13n, reference: accountId });
  const [plain, flex] = await Promise.all(
    [ServiceClass.UNSPECIFIED, ServiceClass.FLEX].map((serviceClass) =>
      accounts.createKey({ accountId, limits: { serviceClass } }),
    ),
  );
  await accounts.updateAccount({ accountId, serviceClass: ServiceClass.PRIORITY });
  const tiers = async (apiKey = "") => {
    const chat = new OpenAI({ baseURL: `${service.url}/v1`, apiKey, maxRetries: 0 }).chat.completions;
    const message = await new Anthropic({ baseURL: service.url, apiKey, maxRetries: 0 }).messages.create({
      ...asked,
      service_tier: "auto",
    });
    const asks = (["auto", "default", "priority"] as const).map((service_tier) =>
      chat.create({ ...asked, service_tier }),
    );
    return [...(await Promise.all(asks)).map(({ service_tier }) => service_tier), message.usage.service_tier];
  };
  expect(await tiers(plain?.secret)).toEqual(["priority", "default", "priority", "priority"]);
  expect(await tiers(flex?.secret)).toEqual(["flex", "flex", "flex", "standard"]);
});
