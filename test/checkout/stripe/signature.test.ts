import { expect, test } from "@jest/globals";
import Stripe from "stripe";
import { isSignedByStripe } from "#src/checkout/stripe/signature.ts";

const secret = "whsec_of_the_test";
const body = '{"id":"evt_1","text":"Grüße"}';
const nowMs = 1_800_000_000_000;
const now = nowMs / 1000;

const sign = (timestamp = now, by = secret) =>
  Stripe.webhooks.generateTestHeaderString({ payload: body, secret: by, timestamp });
const isSigned = (header: string, text = body) => isSignedByStripe(Buffer.from(text), header, secret, nowMs);

test.each([
  ["now", sign()],
  ["300 s ago", sign(now - 300)],
  ["300 s ahead", sign(now + 300)],
  ["with a secret that is being replaced, too", `${sign(now, "old")},${sign().split(",")[1]}`],
  ["with schemes that are unknown", `v0=abc,${sign()},v9=ff`],
])("what Stripe's library signs %s is taken", (_, header) => {
  expect(isSigned(header)).toBe(true);
});

test.each([
  ["of another secret", sign(now, "whsec_of_somebody_else")],
  ["301 s old", sign(now - 301)],
  ["301 s ahead", sign(now + 301)],
  ["with another time", sign().replace(`t=${now}`, `t=${now - 1}`)],
  ["with two times", `t=${now},${sign()}`],
  ["without a time", sign().replace(/^t=\d+,/, "")],
  ["with a time that is no number", sign().replace(/^t=\d+/, "t=NaN")],
  ["without a signature", `t=${now}`],
  ["with an empty signature", `t=${now},v1=`],
  ["that is cut off", sign().slice(0, -2)],
  ["that is too long", `${sign()}00`],
  ["that is no hex", `t=${now},v1=${"z".repeat(64)}`],
  ["that is empty", ""],
  ["of an older scheme", sign().replace("v1=", "v0=")],
])("a header %s is refused", (_, header) => {
  expect(isSigned(header)).toBe(false);
});

test("another body is refused", () => {
  expect(isSigned(sign(), body.replace("evt_1", "evt_2"))).toBe(false);
});
