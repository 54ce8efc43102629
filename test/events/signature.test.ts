import { expect, test } from "@jest/globals";
import { systemRandom } from "../../lib/ids/random.ts";
import { createSeal } from "../../src/events/sealed.ts";
import { newWebhookSecret, signedHeaders } from "../../src/events/signature.ts";

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
