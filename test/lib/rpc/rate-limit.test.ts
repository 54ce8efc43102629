import { expect, test } from "@jest/globals";
import { readRateLimit, writeRateLimit } from "#lib/rpc/rate-limit.ts";

test.each([
  [{ limit: 60, remaining: 59, resetAfterMs: 250 }, "limit=60, remaining=59, reset=0.25"],
  [{ limit: 60, remaining: 60, resetAfterMs: 0 }, "limit=60, remaining=60"],
  [{ limit: 10_000_000, remaining: 0, resetAfterMs: 60_000 }, "limit=10000000, remaining=0, reset=60"],
  [
    { limit: 60, remaining: 59, resetAfterMs: 0, tokens: { limit: 1000, remaining: 9, resetAfterMs: 1500 } },
    "limit=60, remaining=59, tokens-limit=1000, tokens-remaining=9, tokens-reset=1.5",
  ],
  [{ limit: 1, remaining: 0, resetAfterMs: 1 }, "limit=1, remaining=0, reset=0.001"],
])("%j is written and read as %j", (state, text) => {
  const metadata = new Headers();
  writeRateLimit(metadata, state);
  expect(metadata.get("x-tollgate-rate-limit")).toBe(text);
  expect(readRateLimit(metadata)).toEqual(state);
});

test("a part of a millisecond is rounded up: whoever waits that long has waited long enough", () => {
  const metadata = new Headers();
  writeRateLimit(metadata, { limit: 60, remaining: 0, resetAfterMs: 1000.2 });
  expect(readRateLimit(metadata)).toMatchObject({ resetAfterMs: 1001 });
});

test.each([
  [""],
  ["limit=60"],
  ["limit=-1, remaining=0"],
  ["limit=60, remaining=59, reset=soon"],
  ["limit=60,remaining=59"],
  ["limit=1e3, remaining=0"],
  ["limit=99999999999, remaining=0"],
  ["limit=1, remaining=0, tokens-limit=1"],
  ["tokens-limit=1, tokens-remaining=0"],
])("%j says nothing", (text) => {
  expect(readRateLimit(new Headers({ "x-tollgate-rate-limit": text }))).toBeUndefined();
  expect(readRateLimit(new Headers())).toBeUndefined();
});
