import type { ConnectError } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { readRateLimit } from "#lib/rpc/rate-limit.ts";
import { defaultConfig } from "#src/config/load.ts";
import type { FundingState } from "#src/money/model/ledger.ts";
import type { RateLimits } from "#src/money/rate-limits/interface.ts";
import { findRatePolicy } from "#src/money/rate-limits/max-rpm.ts";
import { MemoryWindows } from "#src/money/rate-limits/memory.ts";
import { createRateLimits } from "#src/money/rate-limits/rate-limits.ts";
import type { Caller } from "#src/wire/principal.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

const caller: Caller = { kind: "caller", accountId: "account", keyId: "key" };

function setUp(fundingState: Omit<FundingState, "createdAt">) {
  const clock = new ManualClock();
  const account = { createdAt: clock.now(), ...fundingState };
  const limits = createRateLimits({
    policy: findRatePolicy(defaultConfig()),
    windows: new MemoryWindows(clock),
    fundingState: async () => account,
    clock,
  });
  return { clock, limits, account };
}

async function use(limits: RateLimits, times: number, who = caller) {
  for (let i = 0; i < times; i++) {
    await limits.admit(who);
  }
}

test("a paying account's key has its tier's requests, then waits as long as it is told", async () => {
  const { clock, limits } = setUp({ paidTotal: 5n * 10n ** 12n, freeOnly: false });
  expect(await limits.admit(caller)).toEqual({ limit: 60, remaining: 59, resetAfterMs: 60_000 });
  clock.advance(12_345);
  await use(limits, 59);
  const error: unknown = await limits.admit(caller).catch((thrown: unknown) => thrown);
  expect(readDetail(error)).toMatchObject({
    reason: Reason.RATE_LIMITED,
    retryAfter: { seconds: 47n, nanos: 655_000_000 },
    bound: { case: "requestRate", value: { requestsPerMinute: 60 } },
  });
  expect((error as ConnectError).metadata.get("x-tollgate-rate-limit")).toBe("limit=60, remaining=0, reset=60");
  expect(await limits.read(caller)).toEqual({ limit: 60, remaining: 0, resetAfterMs: 60_000 });
  clock.advance(47_000);
  await expect(limits.admit(caller)).rejects.toThrow("The rate limit of this key, 60 requests per minute, is reached");
  clock.advance(1000);
  expect(await limits.admit(caller)).toMatchObject({ remaining: 0 });
});

test("free money alone has a lower cap that says so and that a top-up lifts at once", async () => {
  const { limits, account } = setUp({ paidTotal: 0n, freeOnly: true });
  await use(limits, 20);
  const error: unknown = await limits.admit(caller).catch((thrown: unknown) => thrown);
  expect(readDetail(error)).toMatchObject({
    reason: Reason.FREE_TIER_LIMITED,
    bound: { value: { requestsPerMinute: 20 } },
  });
  expect(String(error)).toContain("free-tier credit alone are limited to 20 requests per minute");
  Object.assign(account, { paidTotal: 50n * 10n ** 12n, freeOnly: false });
  expect(await limits.admit(caller)).toMatchObject({ limit: 300, remaining: 279 });
});

test("reading counts nothing", async () => {
  const { limits } = setUp({ paidTotal: 0n, freeOnly: true });
  for (let i = 0; i < 50; i++) {
    expect(await limits.read(caller)).toEqual({ limit: 20, remaining: 20, resetAfterMs: 0 });
  }
});

test("a key's own limit holds for that key alone", async () => {
  const { limits } = setUp({ paidTotal: 5n * 10n ** 12n, freeOnly: false });
  const bounded = { ...caller, keyId: "bounded", rpm: 1 };
  await use(limits, 1, bounded);
  await expect(limits.admit(bounded)).rejects.toThrow("1 request per minute");
  await use(limits, 60);
});

test("the keys of a rotation chain share their requests a minute", async () => {
  const { limits } = setUp({ paidTotal: 5n * 10n ** 12n, freeOnly: false });
  const successor: Caller = { ...caller, keyId: "successor", limitsOf: caller.keyId };
  await use(limits, 30);
  await use(limits, 30, successor);
  expect(await limits.read(caller)).toMatchObject({ limit: 60, remaining: 0 });
  await expect(limits.admit(successor)).rejects.toThrow("60 requests per minute");
  await expect(limits.admit(caller)).rejects.toThrow("60 requests per minute");
});

test("service tokens share their account's limit", async () => {
  const { limits } = setUp({ paidTotal: 0n, freeOnly: true });
  await use(limits, 20, { ...caller, keyId: "" });
  await expect(limits.admit({ ...caller, keyId: "" })).rejects.toThrow("20 requests");
  await use(limits, 20);
});

const refusalOf = (begun: unknown) =>
  Promise.resolve(begun).then(
    () => undefined,
    (thrown: ConnectError) => ({
      reason: readDetail(thrown)?.reason,
      message: thrown.rawMessage,
      seconds: Number(readDetail(thrown)?.retryAfter?.seconds),
      told: readRateLimit(thrown.metadata),
    }),
  );

test("a key runs so many requests at once, beside what its account may, and the next as soon as one has ended", async () => {
  const { limits } = setUp({ paidTotal: 1n, freeOnly: false });
  const key: Caller = { ...caller, maxInFlight: 2, accountMaxInFlight: 3 };
  const [first] = [await limits.begin(key, 1), await limits.begin(key, 1)];
  expect(await refusalOf(limits.begin(key, 1))).toEqual({
    reason: Reason.RATE_LIMITED,
    message: "This key may run 2 requests at once, and as many are running. Retry in 1 s, or when one has ended.",
    seconds: 1,
    told: { limit: 60, remaining: 58, resetAfterMs: 60_000 },
  });
  const other: Caller = { ...key, keyId: "other" };
  await limits.begin(other, 1);
  expect((await refusalOf(limits.begin(other, 1)))?.message).toMatch(/^This account may run 3 requests at once/);
  first?.leave(0);
  first?.leave(0);
  await limits.begin(other, 1);
  expect((await refusalOf(limits.begin(other, 1)))?.message).toMatch(/^This key may run 2/);
});

test("the keys of a rotation chain share their places and their tokens a minute", async () => {
  const { limits } = setUp({ paidTotal: 1n, freeOnly: false });
  const old: Caller = { ...caller, maxInFlight: 1, tokensPerMinute: 100 };
  const successor: Caller = { ...old, keyId: "successor", limitsOf: old.keyId };
  const run = await limits.begin(old, 60);
  expect((await refusalOf(limits.begin(successor, 1)))?.message).toMatch(/^This key may run 1 request at once/);
  run.leave(60);
  expect((await refusalOf(limits.begin(successor, 50)))?.message).toMatch(/100 tokens per minute/);
  (await limits.begin(successor, 40)).leave(40);
  expect((await refusalOf(limits.begin(old, 1)))?.message).toMatch(/100 tokens per minute/);
});

test("a key's tokens a minute are admitted by bound, settled by count, and told", async () => {
  const { clock, limits } = setUp({ paidTotal: 1n, freeOnly: false });
  const key: Caller = { ...caller, tokensPerMinute: 1000 };
  const run = await limits.begin(key, 900);
  expect(run.rateLimit).toMatchObject({
    ...{ limit: 60, remaining: 59 },
    tokens: { limit: 1000, remaining: 100, resetAfterMs: 60_000 },
  });
  expect((await refusalOf(limits.begin(key, 200)))?.seconds).toBe(1);
  run.leave(300);
  const next = await limits.begin(key, 700);
  expect(next.rateLimit.tokens).toEqual({ limit: 1000, remaining: 0, resetAfterMs: 60_000 });
  next.leave(700);
  clock.advance(10_000);
  const refused = await refusalOf(limits.begin(key, 400));
  expect(refused).toMatchObject({
    reason: Reason.RATE_LIMITED,
    message:
      "The rate limit of this key, 1000 tokens per minute, is reached: this request may take 400. Retry in 50 s.",
    seconds: 50,
    told: { limit: 60, remaining: 58, tokens: { limit: 1000, remaining: 0, resetAfterMs: 50_000 } },
  });
  clock.advance(49_999);
  expect(await refusalOf(limits.begin(key, 400))).toBeDefined();
  clock.advance(1);
  expect(await refusalOf(limits.begin(key, 400))).toBeUndefined();
});

test("of limits that are reached together the one that opens last is told, so that a retry after it succeeds", async () => {
  const { clock, limits } = setUp({ paidTotal: 1n, freeOnly: false });
  const key: Caller = { ...caller, rpm: 2, maxInFlight: 1, tokensPerMinute: 100 };
  const retry = async () => (await refusalOf(limits.begin(key, 45)))?.seconds;
  (await limits.begin(key, 10)).leave(10);
  clock.advance(20_000);
  const running = await limits.begin(key, 45);
  const refused = await refusalOf(limits.begin(key, 45));
  expect(refused).toMatchObject({ seconds: 40, message: expect.stringMatching(/2 requests per minute/) });
  running.leave(90);
  const full = await refusalOf(limits.begin(key, 45));
  expect(full).toMatchObject({ seconds: 60, message: expect.stringMatching(/100 tokens per minute/) });
  clock.advance(59_999);
  expect(await retry()).toBe(1);
  clock.advance(1);
  expect(await retry()).toBeUndefined();
});

test("places and tokens that run out together are refused by the tokens where those come back later", async () => {
  const { limits } = setUp({ paidTotal: 1n, freeOnly: false });
  const key: Caller = { ...caller, maxInFlight: 1, tokensPerMinute: 100 };
  (await limits.begin(key, 60)).leave(60);
  await limits.begin(key, 10);
  expect(await refusalOf(limits.begin(key, 10))).toMatchObject({
    seconds: 1,
    message: expect.stringMatching(/1 request at once/),
  });
  expect(await refusalOf(limits.begin(key, 50))).toMatchObject({
    seconds: 60,
    message: expect.stringMatching(/100 tokens per minute/),
  });
});
