import { Code, createClient } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { standstill } from "../../../support/standstill.ts";
import { ScriptedService, texts } from "../scripted-service.ts";
import { openConnect, openDirect, routes } from "../transports.ts";
import { clientOf, drain, errorOf, transportTo } from "./calls.ts";

// What every way to a service promises, whatever carries the call.

describe.each(routes)("%s", (_name, open) => {
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

const floodLength = 1000;

/** Far more than all buffers on the way hold: 1,000 messages of 64 KiB. */
function flood(): ScriptedService {
  const word = "x".repeat(64 * 1024);
  return new ScriptedService({ generate: () => texts(Array.from({ length: floodLength }, () => word)) });
}
