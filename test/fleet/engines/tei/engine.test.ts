import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemClock } from "#lib/time/clock.ts";
import { TeiEngine } from "#src/fleet/engines/tei/engine.ts";
import { drain } from "../collect.ts";
import { chatRequest, plain } from "../requests.ts";
import { json, type Received, scriptedServer } from "../scripted-server.ts";

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
const never = () => new AbortController().signal;

/** A server of the given limits, whose tokens are the characters of an input. */
function tei({ longest = 100, batch = 4, counts = true } = {}) {
  const info = {
    model_id: "BAAI/bge-m3",
    max_input_length: longest,
    max_client_batch_size: batch,
    auto_truncate: true,
  };
  return scriptedServer({
    "/info": (_, response) => json(response, info),
    "/health": (_, response) => void response.end(),
    "/metrics": (_, response) => void response.end("# TYPE te_queue_size gauge\nte_queue_size 3\n"),
    "/tokenize": ({ body: { inputs } }, response) =>
      json(
        response,
        inputs.map((input: string) => Array.from(input, (text, id) => ({ id, text }))),
      ),
    "/embed": ({ body: { inputs, truncate } }: Received, response) => {
      const long = inputs.find((input: string) => input.length > longest && !truncate);
      const error = `Input validation error: \`inputs\` must have less than ${longest} tokens. Given: ${long?.length}`;
      if (long !== undefined) {
        return json(response, { error, error_type: "Validation" }, 422);
      }
      if (inputs.length > batch) {
        return json(response, { error: "batch size", error_type: "Validation" }, 422);
      }
      const tokens = inputs.reduce((sum: number, input: string) => sum + input.length, 0);
      const headers: Record<string, string> = counts ? { "x-compute-tokens": `${tokens}` } : {};
      json(
        response,
        inputs.map((input: string) => [input.length, 0]),
        200,
        headers,
      );
    },
  });
}

test("embeds in the batches that it takes, in order, and counts", async () => {
  await using server = await tei();
  const engine = new TeiEngine(server.url, settings);
  const inputs = Array.from({ length: 10 }, (_, i) => "x".repeat(i + 1));
  const { vectors, inputTokens } = await engine.embed({ runId: "r", model: "m", inputs }, never());
  expect(vectors.map((vector) => vector[0])).toEqual(inputs.map(({ length }) => length));
  expect(inputTokens).toBe(55);
  const sent = server.received.filter(({ path }) => path === "/embed");
  expect(sent.map(({ body }) => body.inputs.length)).toEqual([4, 4, 2]);
  expect(sent[0]).toMatchObject({ headers: { "x-request-id": "r" }, body: { truncate: false, normalize: true } });
  await engine.close();
});

test("names the input that is too long", async () => {
  await using server = await tei();
  const engine = new TeiEngine(server.url, settings);
  const inputs = ["a", "b", "c", "d", "e", "x".repeat(101)];
  const error = await engine.embed({ runId: "r", model: "m", inputs }, never()).catch((refusal) => refusal);
  expect(readDetail(error)).toMatchObject({
    reason: Reason.INPUT_TOO_LONG,
    parameter: "inputs[5]",
    bound: { case: "tokens", value: { limit: 100n, actual: 101n } },
  });
  await engine.close();
});

test("is unfit when it takes less than the model's context", async () => {
  await using fit = await tei();
  const engine = new TeiEngine(fit.url, settings);
  await engine.checkHealth(never());
  await engine.close();
  await using unfit = await tei({ longest: 64 });
  const other = new TeiEngine(unfit.url, settings);
  await expect(other.checkHealth(never())).rejects.toMatchObject({ cause: { message: expect.stringContaining("64") } });
  await other.close();
});

test("follows the limits of a server that was started anew", async () => {
  const info = { model_id: "m", max_input_length: 100, max_client_batch_size: 4 };
  await using server = await scriptedServer({
    "/info": (_, response) => json(response, info),
    "/health": (_, response) => void response.end(),
    "/embed": ({ body: { inputs } }, response) =>
      json(
        response,
        inputs.map(() => [1]),
        200,
        { "x-compute-tokens": "4" },
      ),
  });
  const engine = new TeiEngine(server.url, settings);
  const inputs = ["a", "b", "c", "d"];
  await engine.checkHealth(never());
  await engine.embed({ runId: "r", model: "m", inputs }, never());
  info.max_client_batch_size = 2;
  await engine.checkHealth(never());
  await engine.embed({ runId: "r", model: "m", inputs }, never());
  const sent = server.received.filter(({ path }) => path === "/embed");
  expect(sent.map(({ body }) => body.inputs.length)).toEqual([4, 2, 2]);
  info.max_input_length = 64;
  await expect(engine.checkHealth(never())).rejects.toMatchObject({
    cause: { message: expect.stringContaining("64") },
  });
  await engine.close();
});

test("an answer without a count is a failure", async () => {
  await using server = await tei({ counts: false });
  const engine = new TeiEngine(server.url, settings);
  const error = await engine.embed({ runId: "r", model: "m", inputs: ["a"] }, never()).catch((refusal) => refusal);
  expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
  await engine.close();
});

test("counts, lists its model, tells its load and does not generate", async () => {
  await using server = await tei();
  const engine = new TeiEngine(server.url, settings);
  const prompt = { case: "text", value: "hello" } as const;
  expect(await engine.countTokens({ prompt }, never())).toBe(5);
  expect(await engine.listModels(never())).toEqual([{ id: "BAAI/bge-m3", contextLength: 100, kind: "embedding" }]);
  expect(await engine.readLoad(never())).toEqual({ waiting: 3 });
  const { error } = await drain(engine.generate(chatRequest("hi", { recipe: plain })));
  expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
  await engine.close();
});

test("counts an input that can hardly fit by its refusal, not by a list", async () => {
  await using server = await tei();
  const engine = new TeiEngine(server.url, settings);
  const prompt = { case: "text", value: "x".repeat(801) } as const;
  expect(await engine.countTokens({ prompt }, never())).toBe(801);
  expect(server.received.map(({ path }) => path)).toEqual(["/embed"]);
  await engine.close();
});

test("a model that broke is a failure for which another server may be tried", async () => {
  await using server = await scriptedServer({
    "/info": (_, response) => json(response, { model_id: "m", max_input_length: 100, max_client_batch_size: 4 }),
    "/embed": (_, response) => json(response, { error: "CUDA out of memory", error_type: "Backend" }, 424),
  });
  const engine = new TeiEngine(server.url, settings);
  const error = await engine.embed({ runId: "r", model: "m", inputs: ["a"] }, never()).catch((refusal) => refusal);
  expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
  expect(error.cause).toMatchObject({ transient: true });
  await engine.close();
});

test("is full at 429", async () => {
  await using server = await scriptedServer({
    "/info": (_, response) => json(response, { model_id: "m", max_input_length: 100, max_client_batch_size: 4 }),
    "/embed": (_, response) => json(response, { error: "Model is overloaded", error_type: "Overloaded" }, 429),
  });
  const engine = new TeiEngine(server.url, settings);
  const error = await engine.embed({ runId: "r", model: "m", inputs: ["a"] }, never()).catch((refusal) => refusal);
  expect(readDetail(error)?.reason).toBe(Reason.OVERLOADED);
  await engine.close();
});

test("names the run on the wire of every call", async () => {
  await using server = await tei();
  const engine = new TeiEngine(server.url, settings);
  await engine.embed({ runId: "run-7", model: "m", inputs: ["a", "b", "c", "d", "e"] }, never());
  const ids = server.received.filter(({ path }) => path === "/embed").map(({ headers }) => headers["x-request-id"]);
  expect(ids).toEqual(["run-7", "run-7"]);
  await engine.close();
});
