import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { GenerateRequestSchema, InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { hideErrors } from "#src/wire/interceptors/errors.ts";
import { ScriptedService, texts, textsOf, untilAborted } from "../scripted-service.ts";
import { openChannel, openDirect, routes } from "../transports.ts";
import { clientOf, drain, errorOf, rateLimited, transportTo } from "./calls.ts";

// What every way to a service promises, whatever carries the call.

describe.each(routes)("%s: a stream", (_name, open) => {
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
