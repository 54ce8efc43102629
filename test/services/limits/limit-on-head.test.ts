import type { DescMethod } from "@bufbuild/protobuf";
import { type ConnectError, createContextValues } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { MemoryWindows } from "#src/money/rate-limits/memory.ts";
import { createRateLimits } from "#src/money/rate-limits/rate-limits.ts";
import { limitOnHead } from "#src/services/limits/limit-on-head.ts";
import type { Gate } from "#src/wire/grpc/server/gate.ts";
import { principalKey } from "#src/wire/interceptors/access/principal.ts";
import type { Caller } from "#src/wire/principal.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

const caller: Caller = { kind: "caller", accountId: "a", keyId: "k" };
const limited: readonly DescMethod[] = [
  InferenceService.method.generate,
  EmbeddingsService.method.embed,
  MeteringService.method.countRequest,
  AccountsService.method.identifyCaller,
];

/** A gate that lets a key in, behind limits of 4 requests a minute and 2 at once. */
function start(who = caller) {
  const clock = new ManualClock();
  const tier = { paid: 0n, ageMs: 0, rpm: 4, inFlight: 2, weight: 1 };
  const account = { createdAt: clock.now(), paidTotal: 1n, freeOnly: false };
  const limits = createRateLimits({
    policy: { tiers: [tier, { ...tier, paid: 100n, rpm: 8 }], freeRpm: 4, freeInFlight: 2 },
    windows: new MemoryWindows(clock),
    fundingState: async () => account,
    clock,
  });
  const inner: Gate = {
    admit({ contextValues }) {
      contextValues.set(principalKey, who);
      return who.accountId;
    },
    judge: async () => {},
  };
  const gate = limitOnHead(inner, limits);
  const ask = async (method: DescMethod) =>
    gate.admit({ method, header: new Headers(), contextValues: createContextValues() });
  const errorOf = (answer: Promise<unknown>) =>
    answer.then(
      () => undefined,
      (error: unknown) => error as ConnectError,
    );
  return { clock, limits, account, ask, refusal: (method: DescMethod) => errorOf(ask(method)), errorOf };
}

test("a call beyond its key's minute is refused on its head with the same error, and counts nothing", async () => {
  const { clock, limits, refusal, errorOf } = start();
  for (let i = 0; i < 4; i += 1) {
    expect(await refusal(InferenceService.method.generate)).toBeUndefined();
    await limits.admit(caller);
  }
  expect(await refusal(InferenceService.method.generate)).toBeUndefined(); // nobody was refused yet
  const first = await errorOf(limits.admit(caller));
  for (const method of limited) {
    const again = await refusal(method);
    expect([again?.message, readDetail(again)]).toEqual([first?.message, readDetail(first)]);
    expect(again?.metadata.get("x-tollgate-rate-limit")).toBe("limit=4, remaining=0, reset=60");
  }
  clock.advance(500);
  expect(readDetail(await refusal(EmbeddingsService.method.embed))).toMatchObject({
    retryAfter: { seconds: 59n, nanos: 500_000_000 },
  });
  expect(await refusal(AccountsService.method.getKeyStatus)).toBeUndefined();
  clock.advance(9_499);
  expect(await refusal(InferenceService.method.generate)).toBeDefined();
  clock.advance(1);
  expect(await refusal(InferenceService.method.generate)).toBeUndefined(); // one that asks again
});

test("a refusal is repeated for no longer than it holds", async () => {
  const { clock, limits, account, refusal, errorOf } = start();
  await limits.admit(caller);
  clock.advance(59_900);
  for (let i = 0; i < 3; i += 1) {
    await limits.admit(caller);
  }
  await errorOf(limits.admit(caller));
  clock.advance(99);
  expect(readDetail(await refusal(InferenceService.method.generate))?.reason).toBe(Reason.RATE_LIMITED);
  clock.advance(1);
  expect(await refusal(InferenceService.method.generate)).toBeUndefined();
  await limits.admit(caller);
  await errorOf(limits.admit(caller));
  expect(await refusal(InferenceService.method.generate)).toBeDefined();
  account.paidTotal = 1000n; // a top-up raises the limit
  expect(await refusal(InferenceService.method.generate)).toBeUndefined();
});

test("a call of an account without a free place is refused on its head until one is free", async () => {
  const { limits, refusal, errorOf } = start();
  const running = [await limits.begin(caller, 0), await limits.begin(caller, 0)];
  await errorOf(limits.begin(caller, 0));
  expect((await refusal(InferenceService.method.generate))?.message).toMatch(/may run 2 requests at once/);
  running[0]?.leave(0);
  expect(await refusal(InferenceService.method.generate)).toBeUndefined();
  await limits.begin(caller, 0);
});

test("a call that asks for too many tokens keeps no smaller one out", async () => {
  const { limits, refusal, errorOf } = start({ ...caller, tokensPerMinute: 100 });
  const who = { ...caller, tokensPerMinute: 100 };
  await limits.begin(who, 60);
  expect((await errorOf(limits.begin(who, 60)))?.message).toMatch(/tokens per minute/);
  expect(await refusal(InferenceService.method.generate)).toBeUndefined();
});

test("a frozen account's call is refused on its head", async () => {
  const { refusal } = start({ ...caller, frozenReason: "a dispute" });
  expect(readDetail(await refusal(InferenceService.method.generate))?.reason).toBe(Reason.ACCOUNT_FROZEN);
});
