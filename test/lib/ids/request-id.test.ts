import { expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { isRequestId, newRequestId, readPastedId, readRequestTime, toRequestId } from "#lib/ids/request-id.ts";

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

test.each([
  "req_01a2",
  " req_01a2\n",
  "x-request-id: req_01a2",
  "Request-Id:req_01a2\n",
  '"request_id":"req_01a2"}',
  '"requestId": "req_01a2",',
  "(request req_01a2)",
  '"req_01a2".',
])("the id is read from what was pasted: %j", (text) => {
  expect(readPastedId(text)).toBe("req_01a2");
});

test.each(["Request Labs", "request-ideas", "a req_01a2", "order-7", "x1"])("what is no id alone stays: %j", (text) => {
  expect(readPastedId(` ${text} `)).toBe(text);
});

test("an id that a caller chose is read after the header's name", () => {
  expect(readPastedId("x-request-id: order-7")).toBe("order-7");
});
