import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { Embed, Info, Tokenize } from "#gen/tei/v1/tei_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemClock } from "#lib/time/clock.ts";
import { configSchema } from "#src/config/schema.ts";
import { inspectServer } from "#src/fleet/engines/drivers/inspect-server.ts";
import { TeiGrpcEngine } from "#src/fleet/engines/tei-grpc/engine.ts";
import { createHealth, type HealthReporter } from "#src/wire/grpc/server/health.ts";
import type { ListeningServer } from "#src/wire/grpc/server/listening-server.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";

const never = () => new AbortController().signal;
const longest = 100;
const settings = {
  connections: 4,
  clock: systemClock,
  connectTimeoutMs: 1000,
  silenceTimeoutMs: 10_000,
  kind: "embedding" as const,
  capacity: 4,
  systemAnywhere: false,
  contextLength: longest,
};

/** TEI counts no input with so many characters a token. */
const mostCharacters = longest * 250;

let server: ListeningServer;
let health: HealthReporter;
let engine: TeiGrpcEngine;
let failing: ConnectError | undefined;
let counts = true;
let listed: number[] = [];
let authorization: string | null = null;
let requestIds: (string | null)[] = [];

/** A server after TEI's router/src/grpc/server.rs, whose tokens are the characters of an input. */
beforeAll(async () => {
  const services = [
    registration(Info, {
      info: (_, { requestHeader }) => {
        authorization = requestHeader.get("authorization");
        return {
          version: "1.9.3",
          modelId: "BAAI/bge-m3",
          maxConcurrentRequests: 64,
          maxInputLength: longest,
          maxBatchTokens: 16_384,
          maxClientBatchSize: 32,
        };
      },
    }),
    registration(Tokenize, {
      tokenize({ inputs }) {
        listed.push(inputs.length);
        return { tokens: Array.from(inputs, (_, id) => ({ id })) };
      },
    }),
    registration(Embed, {
      embed({ inputs, truncate, normalize }, { requestHeader }) {
        requestIds.push(requestHeader.get("x-request-id"));
        if (failing !== undefined) {
          throw failing;
        }
        expect([truncate, normalize]).toEqual([false, true]);
        if (inputs.length > mostCharacters) {
          const message = `Input validation error: \`inputs\` must have less than ${mostCharacters} characters. Given: ${inputs.length}`;
          throw new ConnectError(message, Code.InvalidArgument);
        }
        if (inputs.length > longest) {
          const message = `Input validation error: \`inputs\` must have less than ${longest} tokens. Given: ${inputs.length}`;
          throw new ConnectError(message, Code.InvalidArgument);
        }
        return { embeddings: [inputs.length, 0], ...(counts && { metadata: { computeTokens: inputs.length } }) };
      },
    }),
  ];
  health = createHealth(services);
  server = await startGrpcServer({
    address: "127.0.0.1:0",
    services: [...services, health.registration],
    interceptors: [],
  });
  engine = new TeiGrpcEngine(`grpc://${server.address}`, settings);
});
afterEach(() => {
  failing = undefined;
  counts = true;
  listed = [];
  requestIds = [];
  health.setServing(true);
});
afterAll(async () => {
  await engine.close();
  await server.stop(0);
});

const embed = (inputs: string[]) => engine.embed({ runId: "r", model: "m", inputs }, never());

test("embeds in input order and counts", async () => {
  const inputs = Array.from({ length: 80 }, (_, i) => "x".repeat(i + 1));
  const { vectors, inputTokens } = await embed(inputs);
  expect(vectors.map((vector) => vector[0])).toEqual(inputs.map(({ length }) => length));
  expect(inputTokens).toBe((80 * 81) / 2);
});

test("names the run on the wire of every input", async () => {
  await engine.embed({ runId: "run-7", model: "m", inputs: ["a", "bc"] }, never());
  expect(requestIds).toEqual(["run-7", "run-7"]);
});

test("names the input that is too long", async () => {
  const error = await embed(["a", "b", "x".repeat(150)]).catch((refusal) => refusal);
  expect(readDetail(error)).toMatchObject({
    reason: Reason.INPUT_TOO_LONG,
    parameter: "inputs[2]",
    bound: { case: "tokens", value: { limit: 100n, actual: 150n } },
  });
});

test.each([
  [Code.ResourceExhausted, Reason.OVERLOADED],
  [Code.Internal, Reason.ENGINE_FAILED],
  [Code.FailedPrecondition, Reason.ENGINE_FAILED], // the model broke
  [Code.Unavailable, Reason.ENGINE_FAILED],
  [Code.InvalidArgument, Reason.INVALID_ARGUMENT],
])("understands status %d", async (code, reason) => {
  failing = new ConnectError("a secret detail", code);
  const error = await embed(["a"]).catch((failure) => failure);
  expect(readDetail(error)?.reason).toBe(reason);
  expect(error.rawMessage).not.toContain("secret");
});

test("an answer without a count is a failure", async () => {
  counts = false;
  expect(readDetail(await embed(["a"]).catch((failure) => failure))?.reason).toBe(Reason.ENGINE_FAILED);
});

test("counts, lists its model and knows what it has to take", async () => {
  expect(await engine.countTokens({ prompt: { case: "text", value: "hello" } }, never())).toBe(5);
  expect(await engine.listModels(never())).toEqual([{ id: "BAAI/bge-m3", contextLength: 100, kind: "embedding" }]);
  await engine.checkHealth(never());
  const demanding = new TeiGrpcEngine(`grpc://${server.address}`, { ...settings, contextLength: 8192 });
  await expect(demanding.checkHealth(never())).rejects.toMatchObject({
    cause: { message: expect.stringContaining("takes 100 tokens") },
  });
  await demanding.close();
});

test("counts an input that can hardly fit by its refusal, not by a list", async () => {
  const count = (length: number) =>
    engine.countTokens({ prompt: { case: "text", value: "x".repeat(length) } }, never());
  expect([await count(800), await count(801)]).toEqual([800, 801]);
  expect(listed).toEqual([800]);
  const error = await count(mostCharacters + 1).catch((refusal) => refusal);
  expect(readDetail(error)).toMatchObject({ reason: Reason.INPUT_TOO_LONG });
  expect(readDetail(await embed(["a", "x".repeat(mostCharacters + 1)]).catch((refusal) => refusal))).toMatchObject({
    reason: Reason.INPUT_TOO_LONG,
    parameter: "inputs[1]",
    bound: { case: "tokens", value: { limit: 100n } },
  });
});

test("is healthy when it says so, or when it embeds all the same", async () => {
  await engine.checkHealth(never());
  health.setServing(false); // as before its first request
  await engine.checkHealth(never());
  failing = new ConnectError("CUDA out of memory", Code.FailedPrecondition);
  await expect(engine.checkHealth(never())).rejects.toMatchObject({ cause: { transient: true } });
});

test("tells its version and limits", async () => {
  const servers = [{ url: `grpc://${server.address}`, engine: "tei-grpc", capacity: 2 }];
  const inspect = (more: object) => {
    const [model] = configSchema.parse({
      models: [{ id: "BAAI/bge-m3", kind: "embedding", context_length: longest, ...more, servers }],
    }).models;
    const [first] = model?.servers ?? [];
    if (model === undefined || first === undefined) {
      throw new Error("the configuration lost its server");
    }
    return inspectServer({ model, server: first }, 1000, never());
  };
  expect(await inspect({})).toMatchObject({
    version: "1.9.3",
    facts: { "input length": 100, "batch tokens": 16_384, "inputs at once": 64 },
    remarks: [],
  });
  const { remarks } = await inspect({ context_length: 8192 });
  expect(remarks).toEqual([{ status: "wrong", message: expect.stringContaining("takes inputs of 100 tokens") }]);
});

test("shows its API key", async () => {
  const allowed = new TeiGrpcEngine(`grpc://${server.address}`, { ...settings, authorization: "Bearer secret" });
  await allowed.checkHealth(never());
  expect(authorization).toBe("Bearer secret");
  await allowed.close();
});

test("fails where nothing listens", async () => {
  const nowhere = new TeiGrpcEngine("grpc://127.0.0.1:9", settings);
  await expect(nowhere.checkHealth(AbortSignal.timeout(10_000))).rejects.toMatchObject({ cause: { transient: true } });
  await nowhere.close();
});
