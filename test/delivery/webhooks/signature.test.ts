import Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "@jest/globals";
import OpenAI from "openai";
import { systemRandom } from "#lib/ids/random.ts";
import { createSeal } from "#lib/ids/sealed.ts";
import { newWebhookSecret, signedHeaders } from "#src/delivery/webhooks/signature.ts";

test("a signature is that of the Standard Webhooks specification's example", () => {
  const headers = signedHeaders("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, '{"test": 2432232314}', [
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  ]);
  expect(headers).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

const anthropic = new Anthropic({ apiKey: "none" });
const openai = new OpenAI({ apiKey: "none" });

// The library standardwebhooks, by which one SDK verifies, and what the other one has instead.
test.each<[string, (body: string, headers: Record<string, string>, key: string) => unknown]>([
  ["standardwebhooks", (body, headers, key) => anthropic.beta.webhooks.unwrap(body, { headers, key })],
  ["the openai SDK", (body, headers, key) => openai.webhooks.unwrap(body, headers, key)],
])("%s takes what is signed with either of two secrets, and nothing else", async (_, unwrap) => {
  const [old, renewed, others] = [
    newWebhookSecret(systemRandom),
    newWebhookSecret(systemRandom),
    newWebhookSecret(systemRandom),
  ];
  const body = JSON.stringify({
    type: "balance.low",
    timestamp: new Date().toISOString(),
    data: { balance_usd: "0.99" },
  });
  const headers = signedHeaders("msg_1", Math.floor(Date.now() / 1000), body, [renewed, old]);
  const ask = async (...asked: Parameters<typeof unwrap>) => unwrap(...asked);
  expect(await ask(body, headers, old)).toEqual(JSON.parse(body));
  expect(await ask(body, headers, renewed)).toEqual(JSON.parse(body));
  const wrong = /signature/i;
  await expect(ask(body, headers, others)).rejects.toThrow(wrong);
  await expect(ask(body.replace("0.99", "9.99"), headers, renewed)).rejects.toThrow(wrong);
  await expect(ask(body, { ...headers, "webhook-id": "msg_2" }, renewed)).rejects.toThrow(wrong);
});

test("a secret has 32 random bytes, and is sealed where it is stored", () => {
  const secret = newWebhookSecret(systemRandom);
  expect(Buffer.from(secret.replace("whsec_", ""), "base64").length).toBe(32);
  const old = { version: 1, secret: "old" };
  const sealed = createSeal([old], systemRandom).close(secret);
  expect(sealed).not.toContain(secret.slice(6));
  expect(createSeal([{ version: 2, secret: "new" }, old], systemRandom).open(sealed)).toBe(secret);
  expect(() => createSeal([{ version: 2, secret: "new" }], systemRandom).open(sealed)).toThrow("version 1");
  const changed = `${sealed.slice(0, -6)}${sealed.at(-6) === "A" ? "B" : "A"}${sealed.slice(-5)}`;
  expect(() => createSeal([old], systemRandom).open(changed)).toThrow();
});
