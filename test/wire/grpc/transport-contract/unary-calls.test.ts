import { Code, createClient, decodeBinaryHeader, encodeBinaryHeader, type HandlerContext } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { ErrorInfoSchema, RetryInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { hideErrors } from "#src/wire/interceptors/errors.ts";
import { ScriptedService, untilAborted } from "../scripted-service.ts";
import { routes } from "../transports.ts";
import { clientOf, drain, errorOf, rateLimited, transportTo } from "./calls.ts";

// What every way to a service promises, whatever carries the call.

describe.each(routes)("%s: a unary call", (_name, open) => {
  test("gets its answer, whole", async () => {
    const client = await clientOf(open, new ScriptedService({ countTokens: (_context, model) => model.length }));
    const response = await client.countTokens({ model: "four" });
    expect(response).toMatchObject({ $typeName: "tollgate.inference.v1.CountTokensResponse", inputTokens: 4n });
  });

  test("carries headers there, and headers and trailers back", async () => {
    let seen: HandlerContext | undefined;
    const bytes = new Uint8Array([0, 255, 10, 13]);
    const client = await clientOf(
      open,
      new ScriptedService({
        countTokens(context) {
          seen = context;
          context.responseHeader.set("x-header", "there");
          context.responseHeader.set("x-header-bin", encodeBinaryHeader(bytes));
          context.responseTrailer.set("x-trailer", "back");
          return 1;
        },
      }),
    );
    const back: Headers[] = [];
    await client.countTokens(
      {},
      {
        headers: { "x-request": "hello", "x-request-bin": encodeBinaryHeader(bytes) },
        onHeader: (header) => back.push(header),
        onTrailer: (trailer) => back.push(trailer),
      },
    );
    expect(seen?.requestHeader.get("x-request")).toBe("hello");
    expect(decodeBinaryHeader(seen?.requestHeader.get("x-request-bin") ?? "")).toEqual(bytes);
    expect(back[0]?.get("x-header")).toBe("there");
    expect(decodeBinaryHeader(back[0]?.get("x-header-bin") ?? "")).toEqual(bytes);
    expect(back[1]?.get("x-trailer")).toBe("back");
  });

  test("fails with the typed detail", async () => {
    const client = await clientOf(
      open,
      new ScriptedService({
        countTokens() {
          throw rateLimited();
        },
      }),
    );
    const error = await errorOf(client.countTokens({}));
    expect(error.code).toBe(Code.ResourceExhausted);
    expect(error.rawMessage).toBe("Slow down: 60 requests a minute.");
    expect(readDetail(error)).toMatchObject({
      reason: Reason.RATE_LIMITED,
      parameter: "messages[0].text",
      bound: { case: "requestRate", value: { requestsPerMinute: 60 } },
      retryAfter: { seconds: 1n, nanos: 500_000_000 },
    });
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      { reason: "RATE_LIMITED", domain: "tollgate", metadata: { parameter: "messages[0].text" } },
    ]);
    expect(error.findDetails(RetryInfoSchema)).toMatchObject([{ retryDelay: { seconds: 1n, nanos: 500_000_000 } }]);
  });

  test.each([
    ["percent signs", "100% of %41", "100% of %41"],
    ["line breaks", "one\r\ntwo", "one\r\ntwo"],
    ["other scripts", "Ошибка: 模型 🦙", "Ошибка: 模型 🦙"],
    ["nothing", "", ""],
    ["half a surrogate pair", "a\ud83d", /^a/],
    ["a very long text", "x".repeat(100_000), /^x{1000}/],
  ])("fails with a message of %s", async (_what, sent, received) => {
    const client = await clientOf(
      open,
      new ScriptedService({
        countTokens() {
          throw failure(Reason.MODEL_NOT_FOUND, sent);
        },
      }),
    );
    const error = await errorOf(client.countTokens({}));
    expect(readDetail(error)?.reason).toBe(Reason.MODEL_NOT_FOUND);
    if (typeof received === "string") {
      expect(error.rawMessage).toBe(received);
    } else {
      expect(error.rawMessage).toMatch(received);
    }
  });

  test("hides and logs an error that was not meant for callers", async () => {
    const logged: unknown[] = [];
    const log = { debug() {}, info() {}, warn() {}, error: (fields: object) => logged.push(fields) };
    const bug = new TypeError("secret is undefined");
    const client = await clientOf(
      open,
      new ScriptedService({
        countTokens() {
          throw bug;
        },
      }),
      [hideErrors(log, () => undefined)],
    );
    const error = await errorOf(client.countTokens({}));
    expect(error.code).toBe(Code.Internal);
    expect(error.message).not.toContain("secret");
    expect(logged).toMatchObject([{ err: bug, method: "tollgate.inference.v1.InferenceService/CountTokens" }]);
  });

  test("of a method or service that is not there is UNIMPLEMENTED", async () => {
    const transport = await transportTo(open, [registration(CatalogueService, {})]);
    const missingMethod = await errorOf(createClient(CatalogueService, transport).listModels({}));
    expect(missingMethod.code).toBe(Code.Unimplemented);
    const missingService = await errorOf(createClient(InferenceService, transport).countTokens({}));
    expect(missingService.code).toBe(Code.Unimplemented);
  });

  test("ends at its deadline on both sides", async () => {
    const service = new ScriptedService({ countTokens: untilAborted });
    const client = await clientOf(open, service);
    const error = await errorOf(client.countTokens({}, { timeoutMs: 1000 }));
    expect(error.code).toBe(Code.DeadlineExceeded);
    await service.aborted;
  });

  test("tells its handler how much time is left", async () => {
    const left: (number | undefined)[] = [];
    const client = await clientOf(
      open,
      new ScriptedService({
        countTokens(context) {
          left.push(context.timeoutMs());
          return 1;
        },
      }),
    );
    await client.countTokens({}, { timeoutMs: 60_000 });
    await client.countTokens({});
    expect(left[0]).toBeGreaterThan(30_000);
    expect(left[0]).toBeLessThanOrEqual(60_000);
    expect(left[1]).toBeUndefined();
  });

  test("that its caller gives up ends on both sides", async () => {
    const started = Promise.withResolvers<void>();
    const service = new ScriptedService({
      countTokens(context) {
        started.resolve();
        return untilAborted(context);
      },
    });
    const client = await clientOf(open, service);
    const cancel = new AbortController();
    const call = errorOf(client.countTokens({}, { signal: cancel.signal }));
    await started.promise;
    cancel.abort();
    expect((await call).code).toBe(Code.Canceled);
    await service.aborted;
    await service.finished;
  });

  test("that was given up before it began fails", async () => {
    const client = await clientOf(open, new ScriptedService({}));
    const error = await errorOf(client.countTokens({}, { signal: AbortSignal.abort() }));
    expect(error.code).toBe(Code.Canceled);
  });

  test("leaves its caller's signal without a listener", async () => {
    const client = await clientOf(open, new ScriptedService({}));
    const { signal } = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners += 1;
      addEventListener.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners -= 1;
      removeEventListener.apply(signal, args);
    };
    await client.countTokens({}, { signal });
    await drain(client.generate({}, { signal }));
    expect(listeners).toBeLessThanOrEqual(0);
  });
});
