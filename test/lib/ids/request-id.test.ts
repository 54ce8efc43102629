import { expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { isRequestId, newRequestId, readRequestTime, toRequestId } from "#lib/ids/request-id.ts";

test("a new id tells when it was made, and can be one", () => {
  const before = Date.now();
  const id = newRequestId(systemRandom);
  expect(readRequestTime(id)).toBeGreaterThanOrEqual(before);
  expect(isRequestId(id)).toBe(true);
});

test.each(["chatcmpl-", "cmpl-", "msg_", "req_"])(
  "the id of an answer that begins with %s is its request's",
  (start) => {
    const id = newRequestId(systemRandom);
    expect(toRequestId(id.replace("req_", start))).toBe(id);
  },
);

test.each(["msg_1", "chatcmpl-mine", "order-7", ""])("an id that was made elsewhere stays: %j", (id) => {
  expect(toRequestId(id)).toBe(id);
});

test.each([undefined, 7, "", "no id", "a".repeat(65), "ä"])("%j can be no request's id", (value) => {
  expect(isRequestId(value)).toBe(false);
});
