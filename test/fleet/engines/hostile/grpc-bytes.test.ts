import { Server, ServerCredentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemClock } from "#lib/time/clock.ts";
import { TeiGrpcEngine } from "#src/fleet/engines/tei-grpc/engine.ts";

// Bytes that are no message of the service, over a real connection.

const settings = {
  connections: 4,
  clock: systemClock,
  connectTimeoutMs: 1000,
  silenceTimeoutMs: 10_000,
  kind: "embedding" as const,
  capacity: 4,
  systemAnywhere: false,
  contextLength: 100,
};

let answer: Buffer = Buffer.alloc(0);
let server: Server;
let engine: TeiGrpcEngine;
beforeAll(async () => {
  server = new Server();
  const method = (path: string) => ({
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: (bytes: Buffer) => bytes,
    responseSerialize: (bytes: Buffer) => bytes,
    responseDeserialize: (bytes: Buffer) => bytes,
  });
  const answers = (_: unknown, reply: (error: null, bytes: Buffer) => void) => reply(null, answer);
  for (const name of ["Embed/Embed", "Info/Info", "Tokenize/Tokenize"]) {
    const [service, call = ""] = name.split("/");
    server.addService({ [call]: method(`/tei.v1.${service}/${call}`) }, { [call]: answers });
  }
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  engine = new TeiGrpcEngine(`grpc://127.0.0.1:${port}`, settings);
});
afterAll(async () => {
  await engine.close();
  server.forceShutdown();
});

const signal = new AbortController().signal;

describe.each<[string, () => Promise<unknown>]>([
  ["embed", () => engine.embed({ runId: "r", model: "m", inputs: ["a"] }, signal)],
  ["info", () => engine.listModels(signal)],
  ["tokenize", () => engine.countTokens({ prompt: { case: "text", value: "a" } }, signal)],
])("%s", (name, call) => {
  const bytes: [string, Buffer][] = [
    ["a field of another type", Buffer.from("08051001", "hex")],
    ["a message that is cut", Buffer.from("0aff01", "hex")],
    ["an endless number", Buffer.alloc(32, 0xff)],
    ["groups within groups", Buffer.alloc(50_000, 0x0b)],
  ];
  test.each(bytes)("%s is the server's failure, or nothing that was told", async (_, told) => {
    answer = told;
    const outcome = await call().catch((error) => readDetail(error)?.reason);
    const nothing = { info: [{ contextLength: 0, id: "", kind: "embedding" }], tokenize: 0 }[name];
    expect([Reason.ENGINE_FAILED, nothing]).toContainEqual(outcome);
  });

  test("a message that is too large is the server's failure, not a full server", async () => {
    answer = Buffer.alloc(17 * 1024 * 1024);
    expect(readDetail(await call().catch((error) => error))?.reason).toBe(Reason.ENGINE_FAILED);
  });
});

test("one vector may take the bytes of one vector", async () => {
  answer = Buffer.alloc(2 * 1024 * 1024, 0x0a);
  const error = await engine.embed({ runId: "r", model: "m", inputs: ["a"] }, signal).catch((refusal) => refusal);
  expect(error.cause.message).toContain("too large");
});
