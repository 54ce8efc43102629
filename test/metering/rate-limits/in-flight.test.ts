import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { detailOf } from "../../../lib/errors/detail.ts";
import { InFlight } from "../../../src/metering/rate-limits/in-flight.ts";

test("an account has so many places, and each is free again as soon as it is left", () => {
  const inFlight = new InFlight();
  const leave = inFlight.enter("a", 2);
  inFlight.enter("a", 2);
  expect(() => inFlight.enter("a", 2)).toThrow("2 requests at once");
  inFlight.enter("b", 1);
  expect(() => inFlight.enter("b", 1)).toThrow("1 request at once");
  leave();
  leave(); // once is all that counts
  inFlight.enter("a", 2);
  expect(() => inFlight.enter("a", 2)).toThrow("at once");
});

test("a refusal says when to come again", () => {
  const inFlight = new InFlight();
  inFlight.enter("a", 1);
  let refusal: unknown;
  try {
    inFlight.enter("a", 1);
  } catch (error) {
    refusal = error;
  }
  expect(detailOf(refusal)).toMatchObject({
    reason: Reason.RATE_LIMITED,
    bound: { case: "concurrency", value: { requests: 1 } },
    retryAfter: { seconds: 1n },
  });
});

test("accounts that run nothing take no memory", () => {
  const inFlight = new InFlight();
  for (let i = 0; i < 100; i++) {
    inFlight.enter(`${i}`, 1)();
  }
  expect(inFlight.accounts).toBe(0);
});
