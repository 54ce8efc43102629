import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type ErrorDetail, Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type ConversationSchema, Role, ToolChoiceMode } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { SamplingSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail, readTokenBound } from "#lib/errors/detail.ts";
import { describeGguf } from "#src/fleet/engines/llama-cpp-embedded/describe.ts";
import { LlamaCppEngine } from "#src/fleet/engines/llama-cpp-embedded/engine.ts";
import { writeChatModel, writeEmbeddingModel } from "../../../../scripts/tiny-gguf.ts";
import { drain } from "../collect.ts";
import { chatRequest, textRequest } from "../requests.ts";

// A real llama.cpp, with tiny models of random weights that are made on the spot.

const folder = mkdtempSync(join(tmpdir(), "tollgate-gguf-"));
const chatModel = join(folder, "tiny-chat.gguf");
const embeddingModel = join(folder, "tiny-embedding.gguf");
const never = () => new AbortController().signal;
const settings = { systemAnywhere: false, capacity: 2 };

let chat: LlamaCppEngine;
let embedder: LlamaCppEngine;
const loaded: number[][] = [];

beforeAll(async () => {
  writeChatModel(chatModel);
  writeEmbeddingModel(embeddingModel);
  chat = new LlamaCppEngine(pathToFileURL(chatModel).href, {
    ...settings,
    kind: "generation",
    contextLength: 2048,
    onLoading: (done, total) => void loaded.push([done, total]),
  });
  embedder = new LlamaCppEngine(pathToFileURL(embeddingModel).href, {
    ...settings,
    kind: "embedding",
    contextLength: 8192,
  });
  await Promise.all([chat.checkHealth(), embedder.checkHealth()]);
});
afterAll(async () => {
  await Promise.all([chat.close(), embedder.close()]);
  rmSync(folder, { recursive: true });
});

/** The tiny models' tokenizer: a token a byte, but for three pairs; the turns' marks are one token each. */
const tokens = (text: string) => text.replace(/<\|\w+\|>|th|in|er/g, "-").length;

const seeded = (seed: bigint) => create(SamplingSchema, { temperature: 0.7, topP: 1, seed });
const generate = (text: string, more = {}) =>
  drain(chat.generate(chatRequest(text, { sampling: seeded(1n), maxOutputTokens: 40, ...more }), never()));

test("how much of a model is loaded is told, up to all of it", () => {
  const { size } = statSync(chatModel);
  expect(loaded.at(-1)).toEqual([size, size]);
  expect(loaded).toEqual(loaded.toSorted(([a = 0], [b = 0]) => a - b));
});

test("describes the models that it can run", async () => {
  expect(await describeGguf(chatModel)).toEqual({
    id: "tiny-chat",
    kind: "generation",
    context_length: 4096,
    thinking: { mode: "default_on" },
    servers: [{ url: pathToFileURL(chatModel).href, engine: "llama.cpp", capacity: 2 }],
  });
  expect(await describeGguf(embeddingModel)).toMatchObject({
    id: "tiny-embedding",
    kind: "embedding",
    context_length: 8192,
    dimensions: 1024,
  });
  const other = join(folder, "other.gguf");
  writeFileSync(other, "no model");
  await expect(describeGguf(other)).rejects.toThrow("is not a GGUF model file");
});

test("generates, counting every token", async () => {
  const { outputs, answer, error } = await generate("Tell me about rivers.");
  expect(error).toBeUndefined();
  expect(answer.text.length).toBeGreaterThan(10);
  expect(outputs[0]).toMatchObject({ events: [], usage: { outputTokens: 0 } });
  expect(outputs.map(({ usage }) => usage?.outputTokens)).toEqual(Array.from({ length: 41 }, (_, i) => i));
  expect(outputs.at(-1)?.finish).toBe(FinishReason.LENGTH);
});

test("counts a prompt as a generation does", async () => {
  const request = chatRequest({
    messages: [
      { role: Role.SYSTEM, text: "be kind" },
      { role: Role.USER, text: "hi" },
    ],
  });
  const { outputs } = await drain(chat.generate({ ...request, maxOutputTokens: 1 }, never()));
  expect(await chat.countTokens(request)).toBe(outputs[0]?.usage?.inputTokens);
  const turns = ["system\nbe kind", "user\nhi"].map((turn) => `<|im_start|>${turn}<|im_end|>\n`);
  expect(await chat.countTokens(request)).toBe(tokens(`${turns.join("")}<|im_start|>assistant\n`));
});

test("answers the same for the same seed, however warm", async () => {
  const [first, second] = [await generate("seed"), await generate("seed")];
  expect(second.answer).toEqual(first.answer);
  expect(second.outputs[0]?.usage?.cachedInputTokens).toBeGreaterThan(0);
  expect((await generate("seed", { sampling: seeded(2n) })).answer).not.toEqual(first.answer);
});

test("keeps accounts apart in its cache", async () => {
  const cached = async (cacheSalt: string) =>
    (await generate("the same long question for both accounts", { cacheSalt })).outputs[0]?.usage?.cachedInputTokens;
  await cached("a");
  expect(await cached("b")).toBe(0);
  expect(await cached("a")).toBeGreaterThan(0);
});

test("switches thinking by the template", async () => {
  const count = (enabled: boolean) => chat.countTokens(chatRequest("hi", { thinking: { enabled, deepest: false } }));
  expect((await count(false)) - (await count(true))).toBe(2 + "\n\n\n\n".length);
});

test("splits thinking off the text", async () => {
  const recipe = { mode: "default_on", depths: false, switch: "chat_template_kwargs" } as const;
  const on = await generate("hi", { recipe, thinking: { enabled: true, deepest: false } });
  expect(on.answer.text).toBe(""); // it never stops thinking
  expect(on.answer.reasoning.length).toBeGreaterThan(10);
  const off = await generate("hi", { recipe, thinking: { enabled: false, deepest: false } });
  expect(off.answer.reasoning).toBe("");
});

test("continues a text, and a last turn", async () => {
  const text = await drain(chat.generate(textRequest("Once upon", { maxOutputTokens: 5 }), never()));
  expect(text.outputs[0]?.usage?.inputTokens).toBe("Once upon".length);
  const turn = chatRequest({
    messages: [
      { role: Role.USER, text: "hi" },
      { role: Role.ASSISTANT, text: "Hel" },
    ],
  });
  expect(await chat.countTokens(turn)).toBe(tokens("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nHel"));
});

test("stops at a stop sequence", async () => {
  const whole = (await generate("stop")).answer.text;
  const stop = whole.slice(3, 5);
  const { outputs, answer } = await generate("stop", { stopSequences: [stop] });
  expect(stop).toHaveLength(2);
  expect(answer.text).toBe(whole.slice(0, whole.indexOf(stop)));
  expect(outputs.at(-1)?.finish).toBe(FinishReason.STOP);
});

test("runs requests side by side and lets others wait", async () => {
  const answers = await Promise.all(["a", "b", "c", "d"].map((text) => generate(text)));
  expect(answers.map(({ error }) => error)).toEqual([undefined, undefined, undefined, undefined]);
  expect(answers.every(({ outputs }) => outputs.at(-1)?.finish !== undefined)).toBe(true);
});

test("an abort stops it, and the sequence works on", async () => {
  const controller = new AbortController();
  // By its seed the answer does not end by itself before it is stopped.
  const request = chatRequest("hi", { sampling: seeded(1n), maxOutputTokens: 2000 });
  const stream = chat.generate(request, controller.signal)[Symbol.asyncIterator]();
  await stream.next();
  await stream.next();
  expect(await chat.readLoad()).toEqual({ running: 1, waiting: 0 });
  controller.abort(new Error("client gone"));
  await expect(stream.next()).rejects.toThrow("client gone");
  expect(await chat.readLoad()).toEqual({ running: 0, waiting: 0 });
  for await (const _ of chat.generate(chatRequest("hi"), never())) {
    break;
  }
  expect(await chat.readLoad()).toEqual({ running: 0, waiting: 0 });
  expect((await generate("hi")).error).toBeUndefined();
});

const weather = {
  name: "weather",
  parametersJson: JSON.stringify({
    type: "object",
    properties: {
      unit: { enum: ["celsius", "fahrenheit"] },
      days: { type: "array", items: { type: "boolean" }, maxItems: 2 },
    },
    required: ["unit"],
  }),
};
const asking = (conversation: MessageInitShape<typeof ConversationSchema>) =>
  chatRequest(
    { messages: [{ role: Role.USER, text: "Is it warm?" }], ...conversation },
    { sampling: seeded(1n), maxOutputTokens: 200 },
  );

test.each([
  ["required", { mode: ToolChoiceMode.REQUIRED }],
  ["named", { mode: ToolChoiceMode.NAMED, name: "weather" }],
])("calls a tool that is %s, as its schema says, however random the model", async (_, toolChoice) => {
  const request = asking({ tools: [weather], toolChoice });
  const { answer, outputs, error } = await drain(chat.generate(request, never()));
  expect(error).toBeUndefined();
  expect(outputs.at(-1)?.finish).toBe(FinishReason.TOOL_CALLS);
  expect(answer).toMatchObject({ text: "", calls: [{ name: "weather", id: expect.any(String) }] });
  const { unit, days } = JSON.parse(answer.calls[0]?.arguments ?? "");
  expect(["celsius", "fahrenheit"]).toContain(unit);
  expect(days.length).toBeLessThanOrEqual(2);
  expect(outputs[0]?.usage?.inputTokens).toBe(await chat.countTokens(request));
});

test("calls a tool whose schema no grammar can express, with some arguments", async () => {
  const odd = { name: "odd", parametersJson: '{"type":"object","properties":{"x":{"type":"hexagon"}}}' };
  const request = asking({ tools: [odd], toolChoice: { mode: ToolChoiceMode.REQUIRED } });
  const { answer } = await drain(chat.generate(request, never()));
  expect(answer.text).toBe("");
  expect(answer.calls.map(({ name }) => name)).toEqual(["odd"]);
});

test("shows the tools to the model, unless they are forbidden", async () => {
  const plain = await chat.countTokens(asking({}));
  expect(await chat.countTokens(asking({ tools: [weather] }))).toBeGreaterThan(plain + 100);
  const forbidden = asking({ tools: [weather], toolChoice: { mode: ToolChoiceMode.NONE } });
  expect(await chat.countTokens(forbidden)).toBe(plain);
  const { answer, error } = await drain(chat.generate(asking({ tools: [weather] }), never()));
  expect([answer.calls, error]).toEqual([[], undefined]); // this model knows no better
});

test("refuses tools of which its template takes no notice, before it does anything", async () => {
  const path = join(folder, "toolless.gguf");
  writeChatModel(path, "{% for message in messages %}{{ message.content }}{% endfor %}");
  const toolless = new LlamaCppEngine(pathToFileURL(path).href, {
    ...settings,
    kind: "generation",
    contextLength: 512,
  });
  const { outputs, error } = await drain(toolless.generate(asking({ tools: [weather] }), never()));
  expect(outputs).toEqual([]);
  expect(readDetail(error)).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter: "conversation.tools" });
  expect((await drain(toolless.generate(asking({}), never()))).error).toBeUndefined();
  await toolless.close();
});

test("refuses a prompt that does not fit", async () => {
  const { error } = await generate("x".repeat(3000));
  const detail = readDetail(error);
  expect(detail).toMatchObject({
    reason: Reason.CONTEXT_LENGTH_EXCEEDED,
    bound: { case: "tokens", value: { limit: 2048n } },
  });
  expect(Number(detail && readTokenBound(detail).actual)).toBe(
    3000 + tokens("<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n"),
  );
});

test("never passes the context", async () => {
  const { outputs } = await generate("x".repeat(2000), { maxOutputTokens: 1000 });
  const { inputTokens = 0, outputTokens = 0 } = outputs.at(-1)?.usage ?? {};
  expect(inputTokens + outputTokens).toBe(2048);
});

test("embeds in input order", async () => {
  const embed = async (...inputs: string[]) => await embedder.embed({ runId: "r", model: "m", inputs }, never());
  const { vectors, inputTokens } = await embed("hello", "world");
  expect(vectors.map(({ length }) => length)).toEqual([1024, 1024]);
  expect(inputTokens).toBe((await lengthOf("hello")) + (await lengthOf("world")));
  expect((await embed("world")).vectors[0]).toEqual(vectors[1]);
});

const lengthOf = (value: string) => embedder.countTokens({ prompt: { case: "text", value } });

test("refuses an input that is too long, by its index", async () => {
  const inputs = ["short", "x".repeat(9000)];
  const error = await embedder.embed({ runId: "r", model: "m", inputs }, never()).catch((refusal) => refusal);
  expect(readDetail(error)).toMatchObject({
    reason: Reason.INPUT_TOO_LONG,
    parameter: "inputs[1]",
    bound: { case: "tokens", value: { limit: 8192n } },
  });
  expect(Number(readTokenBound(readDetail(error) as ErrorDetail).actual)).toBeGreaterThanOrEqual(9000);
});

test("says what is wrong with a file", async () => {
  const url = pathToFileURL(join(folder, "none.gguf")).href;
  const engine = new LlamaCppEngine(url, { ...settings, kind: "generation", contextLength: 100 });
  await expect(engine.checkHealth()).rejects.toMatchObject({ cause: { transient: false } });
  await engine.close();
});
