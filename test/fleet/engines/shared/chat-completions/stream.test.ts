import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { FinishReason, type GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { EngineOutput } from "#src/fleet/engines/interface.ts";
import { AnswerBuilder } from "#src/fleet/engines/shared/answer/answer-builder.ts";
import { ChunkParser } from "#src/fleet/engines/shared/chat-completions/chunk-parser.ts";
import { ChunkReader } from "#src/fleet/engines/shared/chat-completions/chunk-reader.ts";
import { SseReader } from "#src/fleet/engines/shared/chat-completions/stream.ts";
import { vllm } from "#src/fleet/engines/vllm/dialect.ts";
import { join } from "../../collect.ts";
import { chatRequest } from "../../requests.ts";

const fixture = (name: string) => readFileSync(new URL(`../../fixtures/${name}.sse`, import.meta.url));

const traits = () => ({ where: "engine", sendsReasoning: false });

/** Reads a stream in pieces of some bytes. */
function read(bytes: Buffer, pieceLength = bytes.length, request = chatRequest("hi"), known = traits()) {
  const answer = new AnswerBuilder(request, known);
  const reader = new SseReader("vllm", new ChunkReader("vllm", vllm, new ChunkParser(), answer));
  const outputs: EngineOutput[] = [];
  const take = () => {
    const output = reader.take();
    if (output !== undefined) {
      outputs.push(output);
    }
  };
  let error: unknown;
  try {
    for (let at = 0; at < bytes.length; at += pieceLength) {
      reader.push(bytes.subarray(at, at + pieceLength));
      take();
    }
    reader.end();
  } catch (failed) {
    error = failed;
  }
  take();
  const events: GenerationEvent[] = outputs.flatMap((output) => output.events);
  const usage = outputs.findLast((output) => output.usage)?.usage;
  return { outputs, answer: join(events), usage, finish: outputs.at(-1)?.finish, error };
}

const stream = (...chunks: object[]) =>
  Buffer.from(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`);
const text = (content: string, tokens: number) => ({
  choices: [{ delta: { content } }],
  usage: { prompt_tokens: 3, completion_tokens: tokens },
});
const finish = (reason: string, tokens?: number) => ({
  choices: [{ delta: {}, finish_reason: reason }],
  ...(tokens !== undefined && { usage: { prompt_tokens: 3, completion_tokens: tokens } }),
});

test.each([
  ["tool_calls", (called: string) => `[{"index":0,"id":"a","function":${called}}]`],
  ["function_call", (called: string) => called],
])("arguments of %s that come as an object keep their digits", (name, wrap) => {
  const long = '{"id":9007199254740993}';
  const chunk = `{"choices":[{"delta":{"${name}":${wrap(`{"name":"f","arguments":${long}}`)}}}]}`;
  const end = stream(finish("tool_calls", 2));
  const { answer, error } = read(Buffer.concat([Buffer.from(`data: ${chunk}\n\n`), end]));
  expect(error).toBeUndefined();
  expect(answer.calls).toEqual([expect.objectContaining({ name: "f", arguments: long })]);
});

test.each([1, 7, 64, 1 << 20])("reads reasoning, text and counts in pieces of %d bytes", (pieceLength) => {
  const { outputs, ...read_ } = read(fixture("vllm/reasoning"), pieceLength);
  expect(read_).toEqual({
    answer: { reasoning: "Grüße 😀", text: "Hello", calls: [] },
    usage: { inputTokens: 11, outputTokens: 7, reasoningTokens: 3, cachedInputTokens: 8 },
    finish: FinishReason.STOP,
    error: undefined,
  });
  expect(outputs.filter((output) => output.finish !== undefined)).toHaveLength(1);
});

test.each([1, 1 << 20])("reads tool calls in pieces of %d bytes", (pieceLength) => {
  const { answer, finish, usage } = read(fixture("vllm/tool-calls"), pieceLength);
  expect(answer.calls).toEqual([
    { id: "chatcmpl-tool-1", name: "weather", arguments: '{"city": "Oslo"}' },
    { id: "chatcmpl-tool-2", name: "time", arguments: "{}" },
  ]);
  expect(finish).toBe(FinishReason.TOOL_CALLS);
  expect(usage?.outputTokens).toBe(6);
});

test("the first output says what the prompt counts", () => {
  expect(read(fixture("vllm/reasoning"), 64).outputs[0]).toEqual({
    events: [],
    usage: { inputTokens: 11, outputTokens: 0, reasoningTokens: 0 },
  });
});

test("counts tokens that a parser holds back", () => {
  const outputs = read(fixture("vllm/tool-calls"), 64).outputs;
  expect(outputs[1]).toEqual({ events: [], usage: { inputTokens: 3, outputTokens: 1 } });
});

test.each([1, 1 << 20])(
  "an error within the stream fails after what was counted, in pieces of %d bytes",
  (pieceLength) => {
    const { answer, usage, finish, error } = read(fixture("vllm/error"), pieceLength);
    expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
    expect(String(error)).not.toContain("EngineCore");
    expect([answer.text, usage?.outputTokens, finish]).toEqual(["Hel", 2, undefined]);
  },
);

test("an error as the first event leaves no output behind", () => {
  const { outputs, error } = read(Buffer.from('data: {"error":{"message":"x","code":500}}\n\ndata: [DONE]\n\n'));
  expect(outputs).toEqual([]);
  expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
});

test.each<[string, Buffer]>([
  ["no finish", stream(text("a", 1))],
  ["an end in the middle", Buffer.from(`data: ${JSON.stringify(text("a", 1))}\n\n`)],
  ["nothing at all", Buffer.from("")],
  ["a finish that is a failure", stream(text("a", 1), finish("abort", 1))],
  ["no count", stream({ choices: [{ delta: { content: "a" } }] }, finish("stop"))],
  ["a count of the beginning alone", stream(text("", 0), { choices: [{ delta: { content: "a" } }] }, finish("stop"))],
  ["a count of nothing", stream(text("a", 0), finish("stop", 0))],
  ["an empty prompt", stream(finish("stop"), { choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } })],
  [
    "counts that are no numbers",
    stream(finish("stop"), { choices: [], usage: { prompt_tokens: "3", completion_tokens: 1.5 } }),
  ],
  ["something else than JSON", Buffer.from("data: <html>\n\n")],
])("%s is a failed answer", (_, bytes) => {
  const { error, finish } = read(bytes);
  expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
  expect(finish).toBeUndefined();
});

test.each<[string, Buffer]>([
  [
    "no closing [DONE]",
    Buffer.from(stream(text("a", 1), finish("stop", 2)).toString().replace("data: [DONE]\n\n", "")),
  ],
  [
    "a last count that cannot be true",
    stream(text("a", 1), finish("stop", 2), { choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } }),
  ],
  [
    "a count only at the end",
    stream({ choices: [{ delta: { content: "a" } }] }, finish("stop"), {
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    }),
  ],
  [
    "null where nothing is",
    stream(
      { choices: [{ delta: { content: "a", reasoning: null, tool_calls: null }, finish_reason: null }], usage: null },
      finish("stop", 2),
    ),
  ],
])("%s is a whole answer", (_, bytes) => {
  const { answer, usage, finish, error } = read(bytes);
  expect([answer.text, usage, finish, error]).toEqual([
    "a",
    { inputTokens: 3, outputTokens: 2 },
    FinishReason.STOP,
    undefined,
  ]);
});

test("reads reasoning under either name, and text of a plain completion", () => {
  const chunk = { choices: [{ delta: { reasoning_content: "hm" } }] };
  expect(read(stream(chunk, { choices: [{ text: "a" }] }, finish("length", 2))).answer).toEqual({
    reasoning: "hm",
    text: "a",
    calls: [],
  });
});

test("splits thinking off the text, until the engine is seen to send it apart", () => {
  const known = traits();
  const request = chatRequest("hi", { recipe: { mode: "always", depths: false, switch: "chat_template_kwargs" } });
  const inText = stream(text("hm</thi", 1), text("nk>\n\nHello", 2), finish("stop", 3));
  const apart = stream({ choices: [{ delta: { reasoning: "hm" } }] }, text("Hello", 2), finish("stop", 3));
  const without = stream(text("Hello", 2), finish("stop", 3));
  expect(read(inText, 1 << 20, request, known).answer).toMatchObject({ reasoning: "hm", text: "Hello" });
  expect(read(without, 1 << 20, request, known).answer).toMatchObject({ reasoning: "Hello", text: "" });
  expect(read(apart, 1 << 20, request, known).answer).toMatchObject({ reasoning: "hm", text: "Hello" });
  expect(read(without, 1 << 20, request, known).answer).toMatchObject({ reasoning: "", text: "Hello" });
});

test.each([
  ["stop", FinishReason.STOP],
  ["length", FinishReason.LENGTH],
  ["tool_calls", FinishReason.STOP],
  ["content_filter", FinishReason.CONTENT_FILTER],
  ["eos_token", FinishReason.STOP],
])("the finish %s without tool calls", (reason, expected) => {
  expect(read(stream(text("a", 1), finish(reason, 1))).finish).toBe(expected);
});

test.each([
  ["stop", FinishReason.TOOL_CALLS],
  ["length", FinishReason.LENGTH],
])("the finish %s after a tool call", (reason, expected) => {
  const call = { choices: [{ delta: { tool_calls: [{ index: 0, id: "a", function: { name: "f" } }] } }] };
  expect(read(stream(call, finish(reason, 1))).finish).toBe(expected);
});
