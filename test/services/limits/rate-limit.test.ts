import {
  type CallOptions,
  ConnectError,
  createClient,
  type HandlerContext,
  type Interceptor,
} from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "@jest/globals";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import { readRateLimit } from "#lib/rpc/rate-limit.ts";
import { WholeAnswer } from "#lib/rpc/whole-answer.ts";
import { MemoryWindows } from "#src/money/rate-limits/memory.ts";
import { createRateLimits } from "#src/money/rate-limits/rate-limits.ts";
import { limitRates } from "#src/services/limits/rate-limit.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { principalKey } from "#src/wire/interceptors/access/principal.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { type OpenRoute, type Route, routes } from "../../wire/grpc/transports.ts";

const open: Route[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((route) => route.close()));
});

interface Work {
  readonly generate?: (signal: AbortSignal) => AsyncIterable<object>;
  /** Generates in one message, instead. */
  readonly answer?: () => Promise<object>;
  readonly embed?: () => Promise<object>;
}

/** Services that do nothing but what a test says, behind real limits: 4 requests a minute, 2 at once. */
async function start(openRoute: OpenRoute, work: Work = {}) {
  const clock = new ManualClock();
  const limits = createRateLimits({
    policy: { tiers: [{ paid: 0n, ageMs: 0, rpm: 4, inFlight: 2, weight: 1 }], freeRpm: 4, freeInFlight: 2 },
    windows: new MemoryWindows(clock),
    fundingState: async () => ({ createdAt: clock.now(), paidTotal: 1n, freeOnly: false }),
    clock,
  });
  const services = [
    registration(InferenceService, {
      generate: (_request: object, { signal }: HandlerContext) =>
        work.answer === undefined ? streamed(work, signal) : new WholeAnswer(work.answer),
    }),
    registration(EmbeddingsService, { embed: async () => (await work.embed?.()) ?? {} }),
    registration(MeteringService, { countRequest: () => ({}) }),
    registration(AccountsService, { getKeyStatus: () => ({}), identifyCaller: () => ({}) }),
  ];
  const asCaller: Interceptor = (next) => (request) => {
    request.contextValues.set(principalKey, { kind: "caller", accountId: "a", keyId: "k" });
    return next(request);
  };
  const route = await openRoute(services, [asCaller, limitRates(limits)]);
  open.push(route);
  return {
    inference: createClient(InferenceService, route.transport),
    embeddings: createClient(EmbeddingsService, route.transport),
    metering: createClient(MeteringService, route.transport),
    accounts: createClient(AccountsService, route.transport),
  };
}

async function* streamed({ generate }: Work, signal: AbortSignal): AsyncGenerator<object> {
  yield* generate?.(signal) ?? [];
}

/** Where the key stands by the metadata of an answer and of the error that ended it. */
async function tell(call: (options: CallOptions) => Promise<unknown>) {
  let header: Headers | undefined;
  const onHeader = (found: Headers) => {
    header = found;
  };
  const error = await call({ onHeader }).then(
    () => undefined,
    (thrown: unknown) => ConnectError.from(thrown),
  );
  return {
    error,
    state: (header && readRateLimit(header)) ?? (error && readRateLimit(error.metadata)),
  };
}

async function drain(messages: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of messages) {
    // Read to its end.
  }
}

const broken = () => failure(Reason.ENGINE_FAILED, "It broke.");

describe.each(routes)("over %s", (_name, openRoute) => {
  test("what counts and what looks tells where the key stands, and what does neither tells nothing", async () => {
    const { accounts, embeddings, inference, metering } = await start(openRoute, {
      async *generate() {
        yield {};
      },
    });
    const remaining = async (call: (options: CallOptions) => Promise<unknown>) => (await tell(call)).state?.remaining;
    expect((await tell((options) => metering.countRequest({}, options))).state).toEqual({
      limit: 4,
      remaining: 3,
      resetAfterMs: 60_000,
    });
    expect(await remaining((options) => embeddings.embed({}, options))).toBe(2);
    expect(await remaining((options) => drain(inference.generate({}, options)))).toBe(1);
    expect(await remaining((options) => accounts.getKeyStatus({}, options))).toBe(1);
    expect(await remaining((options) => accounts.identifyCaller({}, options))).toBeUndefined();
    expect(await remaining((options) => metering.countRequest({}, options))).toBe(0);
    const { error, state } = await tell((options) => metering.countRequest({}, options));
    expect(readDetail(error)?.reason).toBe(Reason.RATE_LIMITED);
    expect(state).toEqual({ limit: 4, remaining: 0, resetAfterMs: 60_000 });
  });

  test.each<[string, Work, "embed" | "generate"]>([
    ["a call", { embed: () => Promise.reject(broken()) }, "embed"],
    [
      "a stream before its first message",
      {
        // biome-ignore lint/correctness/useYield: it fails before.
        async *generate() {
          throw broken();
        },
      },
      "generate",
    ],
    [
      "a stream after its first message",
      {
        async *generate() {
          yield {};
          throw broken();
        },
      },
      "generate",
    ],
    ["a whole answer", { answer: () => Promise.reject(broken()) }, "generate"],
  ])("%s that fails tells it too", async (_what, work, method) => {
    const { embeddings, inference } = await start(openRoute, work);
    const { error, state } = await tell((options) =>
      method === "embed" ? embeddings.embed({}, options) : drain(inference.generate({}, options)),
    );
    expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
    expect(state).toMatchObject({ limit: 4, remaining: 3 });
  });

  test("a request keeps its account's place until it is over, however it ends", async () => {
    const release = Promise.withResolvers<object>();
    let isEmbedding = false;
    const { embeddings, inference } = await start(openRoute, {
      embed() {
        isEmbedding = true;
        return release.promise;
      },
      async *generate(signal) {
        yield {};
        await new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        });
      },
    });
    const leaving = new AbortController();
    const begin = (signal?: AbortSignal) => {
      const options = signal === undefined ? {} : { signal };
      return inference.generate({}, options)[Symbol.asyncIterator]().next();
    };
    await begin(leaving.signal);
    const embedded = embeddings.embed({});
    await eventually("the embedding has begun", () => isEmbedding);
    expect(readDetail(await begin().catch((error: unknown) => error))).toMatchObject({
      reason: Reason.RATE_LIMITED,
      bound: { case: "concurrency" },
    });
    release.resolve({});
    await embedded;
    leaving.abort();
    const again = new AbortController();
    // Both places are free again: refusals for want of one count nothing, so this can be tried.
    const mayBegin = async () => (await begin(again.signal).catch(() => undefined)) !== undefined;
    await eventually("the stream's place is free", mayBegin);
    await eventually("the embedding's place is free", mayBegin);
    again.abort();
  });

  test("a whole answer keeps its account's place until it is made, or cannot be", async () => {
    const making: PromiseWithResolvers<object>[] = [];
    const { inference } = await start(openRoute, {
      answer() {
        making.push(Promise.withResolvers());
        return making.at(-1)?.promise as Promise<object>;
      },
    });
    const begin = () => drain(inference.generate({}));
    const made = begin();
    await eventually("the first one has begun", () => making.length === 1);
    const failed = begin().catch((error: unknown) => error);
    await eventually("both have begun", () => making.length === 2);
    const full = { reason: Reason.RATE_LIMITED, bound: { case: "concurrency" } };
    expect(readDetail(await begin().catch((error: unknown) => error))).toMatchObject(full);
    making[0]?.resolve({});
    await made;
    const again = begin();
    await eventually("the place of the first one is free", () => making.length === 3);
    expect(readDetail(await begin().catch((error: unknown) => error))).toMatchObject(full);
    making[1]?.reject(broken());
    expect(readDetail(await failed)?.reason).toBe(Reason.ENGINE_FAILED);
    const last = begin();
    await eventually("the place of the second one is free", () => making.length === 4);
    making[2]?.resolve({});
    making[3]?.resolve({});
    await Promise.all([again, last]);
  });
});
