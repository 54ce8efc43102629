import { Code, ConnectError, createContextKey, createContextValues, type Transport } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import { createClient } from "#lib/rpc/client.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { ScriptedService, texts, textsOf, untilAborted } from "../../wire/grpc/scripted-service.ts";
import { openChannel, openDirect, type Route } from "../../wire/grpc/transports.ts";

const opened: Route[] = [];
afterEach(async () => {
  for (const route of opened.splice(0)) {
    await route.close();
  }
});

describe.each([
  ["in process", openDirect],
  ["over gRPC", openChannel],
] as const)("%s", (_name, open) => {
  async function clientOf(service: ScriptedService) {
    const route = await open([registration(InferenceService, service)], []);
    opened.push(route);
    return createClient(InferenceService, route.transport);
  }

  test("answers, with headers and trailers where they are asked for", async () => {
    const client = await clientOf(
      new ScriptedService({
        countTokens({ requestHeader, responseHeader, responseTrailer }, model) {
          responseHeader.set("x-header", requestHeader.get("x-request") ?? "");
          responseTrailer.set("x-trailer", "late");
          return model.length;
        },
      }),
    );
    const told: (string | null)[] = [];
    const response = await client.countTokens(
      { model: "four" },
      {
        headers: { "x-request": "early" },
        onHeader: (header) => told.push(header.get("x-header")),
        onTrailer: (trailer) => told.push(trailer.get("x-trailer")),
      },
    );
    expect(response.inputTokens).toBe(4n);
    expect(told).toEqual(["early", "late"]);
  });

  test("streams, with headers before and trailers after where they are asked for", async () => {
    const client = await clientOf(
      new ScriptedService({
        async *generate({ responseHeader, responseTrailer }) {
          responseHeader.set("x-header", "early");
          yield* texts(["a", "b"]);
          responseTrailer.set("x-trailer", "late");
        },
      }),
    );
    const order: unknown[] = [];
    for await (const message of client.generate({})) {
      order.push(...textsOf(message));
    }
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
    expect(order).toEqual(["a", "b", "early", "a", "b", "late"]);
  });

  test("fails as the service does", async () => {
    const refuse = () => {
      throw failure(Reason.MODEL_NOT_FOUND, "There is no such model.");
    };
    const client = await clientOf(new ScriptedService({ countTokens: refuse, generate: refuse }));
    const unary = await client.countTokens({}).catch((error: unknown) => error);
    expect(readDetail(unary)?.reason).toBe(Reason.MODEL_NOT_FOUND);
    const stream = client.generate({})[Symbol.asyncIterator]();
    const streamed = await stream.next().catch((error: unknown) => error);
    expect(readDetail(streamed)?.reason).toBe(Reason.MODEL_NOT_FOUND);
  });

  test("ends when its signal does", async () => {
    const service = new ScriptedService({
      async *generate(context) {
        yield* texts(["a"]);
        await untilAborted(context);
      },
    });
    const client = await clientOf(service);
    const cancel = new AbortController();
    const read = async () => {
      for await (const _message of client.generate({}, { signal: cancel.signal })) {
        cancel.abort();
      }
    };
    await expect(read()).rejects.toMatchObject({ code: Code.Canceled });
    await service.finished;
  });

  test("ends when its reader leaves", async () => {
    const service = new ScriptedService({
      async *generate(context) {
        yield* texts(["a"]);
        await untilAborted(context);
      },
    });
    const client = await clientOf(service);
    for await (const _message of client.generate({})) {
      break;
    }
    expect(ConnectError.from(await service.aborted).code).toBe(Code.Canceled);
    await service.finished;
  });

  test("calls nobody before the first message is asked for", async () => {
    const service = new ScriptedService({});
    const client = await clientOf(service);
    const stream = client.generate({})[Symbol.asyncIterator]();
    await stream.return?.();
    expect(service.started).toBe(0);
  });
});

test("passes everything on to its transport", async () => {
  const seen: unknown[][] = [];
  const transport = {
    unary: (...args: unknown[]) => Promise.reject(seen.push(args)),
    stream: (...args: unknown[]) => Promise.reject(seen.push(args)),
  } as unknown as Transport;
  const client = createClient(InferenceService, transport);
  const { signal } = new AbortController();
  const contextValues = createContextValues().set(createContextKey(0), 1);
  const options = { signal, timeoutMs: 5, headers: { a: "b" }, contextValues };
  await client.countTokens({ model: "m" }, options).catch(() => {});
  const stream = client.generate({ model: "m" }, options)[Symbol.asyncIterator]();
  await stream.next().catch(() => {});
  const { countTokens, generate } = InferenceService.method;
  expect(seen[0]).toEqual([countTokens, signal, 5, { a: "b" }, { model: "m" }, contextValues]);
  expect(seen[1]).toEqual([generate, signal, 5, { a: "b" }, expect.anything(), contextValues]);
});
