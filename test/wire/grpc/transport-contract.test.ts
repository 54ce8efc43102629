import { create } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createClient,
  decodeBinaryHeader,
  encodeBinaryHeader,
  type HandlerContext,
  type Interceptor,
} from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "@jest/globals";
import { ErrorInfoSchema, RetryInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { GenerateRequestSchema, InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import { toDuration } from "#lib/time/duration.ts";
import { registration, type ServiceRegistration } from "#src/wire/grpc/server/registration.ts";
import { hideErrors } from "#src/wire/interceptors/errors.ts";
import { standstill } from "../../support/standstill.ts";
import { ScriptedService, texts, textsOf, untilAborted } from "./scripted-service.ts";
import { type OpenRoute, openChannel, openConnect, openDirect, type Route, routes } from "./transports.ts";

// What every way to a service promises, whatever carries the call.

const opened: Route[] = [];
afterEach(async () => {
  for (const route of opened.splice(0)) {
    await route.close();
  }
});

async function transportTo(open: OpenRoute, services: ServiceRegistration[], interceptors: Interceptor[] = []) {
  const route = await open(services, interceptors);
  opened.push(route);
  return route.transport;
}

async function clientOf(open: OpenRoute, service: ScriptedService, interceptors: Interceptor[] = []) {
  return createClient(
    InferenceService,
    await transportTo(open, [registration(InferenceService, service)], interceptors),
  );
}

/** The error of a call that has to fail. */
async function errorOf(call: Promise<unknown>): Promise<ConnectError> {
  const error = await call.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(ConnectError);
  return error as ConnectError;
}

async function drain(messages: AsyncIterable<unknown>, received: unknown[] = []): Promise<unknown[]> {
  for await (const message of messages) {
    received.push(message);
  }
  return received;
}

const rateLimited = () =>
  failure(Reason.RATE_LIMITED, "Slow down: 60 requests a minute.", {
    parameter: "messages[0].text",
    bound: { case: "requestRate", value: { requestsPerMinute: 60 } },
    retryAfter: toDuration(1500),
  });

describe.each(routes)("%s", (_name, open) => {
  describe("a unary call", () => {
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

  describe("a stream", () => {
    test("arrives in order and whole", async () => {
      const words = Array.from({ length: 500 }, (_, index) => `word ${index}`);
      const client = await clientOf(open, new ScriptedService({ generate: () => texts(words) }));
      const received = [];
      for await (const message of client.generate({})) {
        expect(message.$typeName).toBe("tollgate.inference.v1.GenerateResponse");
        received.push(...textsOf(message));
      }
      expect(received).toEqual(words);
    });

    test("may be empty", async () => {
      const client = await clientOf(open, new ScriptedService({}));
      expect(await drain(client.generate({}))).toEqual([]);
    });

    test("has headers before its first message and trailers after its last", async () => {
      const client = await clientOf(
        open,
        new ScriptedService({
          async *generate(context) {
            context.responseHeader.set("x-header", "first");
            yield* texts(["a"]);
            context.responseTrailer.set("x-trailer", "last");
          },
        }),
      );
      const order: unknown[] = [];
      const stream = client.generate(
        {},
        {
          onHeader: (header) => order.push(header.get("x-header")),
          onTrailer: (trailer) => order.push(trailer.get("x-trailer")),
        },
      );
      for await (const message of stream) {
        order.push(...textsOf(message));
      }
      expect(order).toEqual(["first", "a", "last"]);
    });

    test.each([
      ["before its first message", []],
      ["after some messages", ["a", "b"]],
    ])("fails %s with the typed detail", async (_when, words) => {
      const client = await clientOf(
        open,
        new ScriptedService({
          async *generate() {
            yield* texts(words);
            throw rateLimited();
          },
        }),
      );
      const received: unknown[] = [];
      const error = await errorOf(drain(client.generate({}), received));
      expect(received).toHaveLength(words.length);
      expect(error.code).toBe(Code.ResourceExhausted);
      expect(readDetail(error)?.reason).toBe(Reason.RATE_LIMITED);
    });

    test("hides and logs an error that was not meant for callers", async () => {
      const logged: unknown[] = [];
      const log = { debug() {}, info() {}, warn() {}, error: (fields: object) => logged.push(fields) };
      const bug = new TypeError("secret is undefined");
      const client = await clientOf(
        open,
        new ScriptedService({
          async *generate() {
            yield* texts(["a"]);
            throw bug;
          },
        }),
        [hideErrors(log, () => undefined)],
      );
      const error = await errorOf(drain(client.generate({})));
      expect(error.code).toBe(Code.Internal);
      expect(error.message).not.toContain("secret");
      expect(logged).toMatchObject([{ err: bug }]);
    });

    test("ends at its deadline on both sides", async () => {
      const service = new ScriptedService({
        async *generate(context) {
          yield* texts(["a"]);
          await untilAborted(context);
        },
      });
      const client = await clientOf(open, service);
      const error = await errorOf(drain(client.generate({}, { timeoutMs: 1000 })));
      expect(error.code).toBe(Code.DeadlineExceeded);
      await service.aborted;
      await service.finished;
    });

    test("that its caller gives up stops its handler", async () => {
      const service = new ScriptedService({
        async *generate(context) {
          yield* texts(["a"]);
          await untilAborted(context);
        },
      });
      const client = await clientOf(open, service);
      const cancel = new AbortController();
      const read = async () => {
        for await (const _message of client.generate({}, { signal: cancel.signal })) {
          cancel.abort();
        }
      };
      expect((await errorOf(read())).code).toBe(Code.Canceled);
      await service.aborted;
      await service.finished;
    });

    test("that was given up before it began fails", async () => {
      const client = await clientOf(open, new ScriptedService({ generate: () => texts(["a"]) }));
      const error = await errorOf(drain(client.generate({}, { signal: AbortSignal.abort() })));
      expect(error.code).toBe(Code.Canceled);
    });

    test("runs beside many others", async () => {
      const client = await clientOf(
        open,
        new ScriptedService({ generate: (_context, model) => texts(Array.from({ length: 20 }, () => model)) }),
      );
      const models = Array.from({ length: 100 }, (_, index) => `model ${index}`);
      await Promise.all(
        models.map(async (model) => {
          const received: unknown[] = [];
          for await (const message of client.generate({ model })) {
            received.push(...textsOf(message));
          }
          expect(received).toEqual(Array.from({ length: 20 }, () => model));
        }),
      );
    });
  });

  describe("interceptors", () => {
    test("run around the call, the first one outermost, and may change it", async () => {
      const order: string[] = [];
      const named =
        (name: string): Interceptor =>
        (next) =>
        async (request) => {
          order.push(`${name} in`);
          const header = new Headers(request.header);
          header.append("x-through", name);
          const response = await next({ ...request, header });
          order.push(`${name} out`);
          return { ...response };
        };
      const seen: (string | null)[] = [];
      const service = new ScriptedService({
        countTokens(context) {
          seen.push(context.requestHeader.get("x-through"));
          return 1;
        },
        generate(context) {
          seen.push(context.requestHeader.get("x-through"));
          return texts(["a"]);
        },
      });
      const client = await clientOf(open, service, [named("outer"), named("inner")]);
      await client.countTokens({});
      await drain(client.generate({}));
      const once = ["outer in", "inner in", "inner out", "outer out"];
      expect(order).toEqual([...once, ...once]);
      expect(seen).toEqual(["outer, inner", "outer, inner"]);
    });

    test("can refuse the call", async () => {
      const refuse: Interceptor = () => async () => {
        throw rateLimited();
      };
      const service = new ScriptedService({});
      const client = await clientOf(open, service, [refuse]);
      expect(readDetail(await errorOf(client.countTokens({})))?.reason).toBe(Reason.RATE_LIMITED);
      expect(readDetail(await errorOf(drain(client.generate({}))))?.reason).toBe(Reason.RATE_LIMITED);
      expect(service.started).toBe(0);
    });
  });

  test("a large answer within the cap arrives", async () => {
    const vectors = Array.from({ length: 2048 }, () => new Uint8Array(4096).fill(7));
    const transport = await transportTo(open, [registration(EmbeddingsService, { embed: () => ({ vectors }) })]);
    const response = await createClient(EmbeddingsService, transport).embed({});
    expect(response.vectors).toHaveLength(2048);
    expect(response.vectors[2047]).toEqual(vectors[2047]);
  });
});

describe.each(routes.filter(([, open]) => open !== openDirect))("%s", (_name, open) => {
  test("a request over the cap is refused before its handler sees it", async () => {
    const service = new ScriptedService({});
    const client = await clientOf(open, service);
    const error = await errorOf(client.countTokens({ model: "x".repeat(4 * 1024 * 1024) }));
    expect(error.code).toBe(Code.ResourceExhausted);
    expect(service.started).toBe(0);
  });

  test("an answer over the cap is an error, plain and streamed", async () => {
    const vectors = [new Uint8Array(16 * 1024 * 1024)];
    const transport = await transportTo(open, [
      registration(EmbeddingsService, { embed: () => ({ vectors }) }),
      registration(InferenceService, { generate: () => texts(["a", "x".repeat(16 * 1024 * 1024)]) }),
    ]);
    const unary = await errorOf(createClient(EmbeddingsService, transport).embed({}));
    expect(unary.code).toBe(Code.ResourceExhausted);
    const streamed = await errorOf(drain(createClient(InferenceService, transport).generate({})));
    expect(streamed.code).toBe(Code.ResourceExhausted);
  });
});

// connect-node's Connect client reads as fast as it can; connect-server.test.ts has a slow one.
describe.each(routes.filter(([, open]) => open !== openConnect))("a stream over %s", (_name, open) => {
  test("waits for a slow reader, in bounded memory", async () => {
    const service = flood();
    const client = await clientOf(open, service);
    const reader = client.generate({})[Symbol.asyncIterator]();
    await reader.next();
    await standstill("messages produced", () => service.produced);
    expect(service.produced).toBeLessThan(floodLength / 2);
    let received = 1;
    while (!(await reader.next()).done) {
      received += 1;
    }
    expect(received).toBe(floodLength);
  });

  test("that a slow reader gives up stops the handler that was waiting", async () => {
    const service = flood();
    const client = await clientOf(open, service);
    const cancel = new AbortController();
    const reader = client.generate({}, { signal: cancel.signal })[Symbol.asyncIterator]();
    await reader.next();
    await standstill("messages produced", () => service.produced);
    cancel.abort();
    await service.finished;
    expect(service.produced).toBeLessThan(floodLength / 2);
  });
});

// Connect's client keeps a reader's return() from its transport, so a transport that reacts to it is called directly.
describe.each([
  ["the direct transport", openDirect],
  ["the channel transport", openChannel],
] as const)("%s", (_name, open) => {
  const { generate } = InferenceService.method;
  async function* request() {
    yield create(GenerateRequestSchema, {});
  }

  test("stops the handler of a stream whose reader had enough", async () => {
    const service = new ScriptedService({
      async *generate(context) {
        yield* texts(["a", "b"]);
        await untilAborted(context);
      },
    });
    const transport = await transportTo(open, [registration(InferenceService, service)]);
    const { message } = await transport.stream(generate, undefined, undefined, undefined, request());
    for await (const _first of message) {
      break;
    }
    expect(ConnectError.from(await service.aborted).code).toBe(Code.Canceled);
    await service.finished;
    expect(await message[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
  });

  test("is not held up by a handler that ignores its signal", async () => {
    const stuck = new Promise<never>(() => {});
    const service = new ScriptedService({
      countTokens: () => stuck,
      async *generate() {
        yield* texts(["a"]);
        await stuck;
      },
    });
    const client = await clientOf(open, service);
    expect((await errorOf(client.countTokens({}, { timeoutMs: 50 }))).code).toBe(Code.DeadlineExceeded);
    expect((await errorOf(drain(client.generate({}, { timeoutMs: 100 })))).code).toBe(Code.DeadlineExceeded);
  });
});

const floodLength = 1000;

/** Far more than all buffers on the way hold: 1,000 messages of 64 KiB. */
function flood(): ScriptedService {
  const word = "x".repeat(64 * 1024);
  return new ScriptedService({ generate: () => texts(Array.from({ length: floodLength }, () => word)) });
}
