import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type GenerationEvent, GenerationEventSchema } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { chatStream } from "../../../../facades/chat/response/stream.ts";
import { escapeLineEnds } from "../../../../facades/http/response/line-ends.ts";
import { refused } from "../../http/scripted-core.ts";
import { readChatStream, type StreamedAnswer } from "./stream-grammar.ts";

const head = { id: "chatcmpl-1", created: 1, model: "m" };
type Event = Parameters<typeof create<typeof GenerationEventSchema>>[1] & object;
const event = (init: Event): GenerationEvent => create(GenerationEventSchema, init);
const started = event({ event: { case: "started", value: { inputTokens: 7n } } });
const text = (value: string) => event({ event: { case: "text", value } });
const reasoning = (value: string) => event({ event: { case: "reasoning", value } });
const call = (index: number, id: string, name: string) =>
  event({ event: { case: "toolCallStarted", value: { index, id, name } } });
const piece = (index: number, fragment: string) =>
  event({ event: { case: "toolCallArguments", value: { index, fragment } } });
const finished = (reason = 1) =>
  event({
    event: {
      case: "finished",
      value: { reason, usage: { inputTokens: 7n, outputTokens: 5n, reasoningTokens: 2n, cachedInputTokens: 4n } },
    },
  });

function encode(batches: GenerationEvent[][], rules = { separateUsage: false, hideReasoning: false }): string {
  const encoder = chatStream(head, rules);
  return escapeLineEnds(batches.map((batch) => encoder.encode(batch)).join("")); // as every stream is written
}

const usage = {
  prompt_tokens: 7,
  completion_tokens: 5,
  total_tokens: 12,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
};

test("a plain answer, byte for byte", () => {
  const chunk = (rest: string) =>
    `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[${rest}\n\n`;
  expect(encode([[started], [reasoning("hm")], [text("Hi")], [finished()]])).toBe(
    chunk('{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}') +
      chunk('{"index":0,"delta":{"reasoning":"hm"},"logprobs":null,"finish_reason":null}]}') +
      chunk('{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}]}') +
      chunk(`{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":${JSON.stringify(usage)}}`) +
      "data: [DONE]\n\n",
  );
});

test("tool calls, also when they interleave", () => {
  const events = [
    started,
    text("I ask."),
    call(0, "a", "f"),
    piece(0, '{"x":'),
    call(1, "b", "g"),
    piece(1, "{}"),
    piece(0, "1}"),
    finished(3),
  ];
  expect(readChatStream(encode([events]), { separateUsage: false })).toEqual({
    content: "I ask.",
    reasoning: "",
    toolCalls: [
      { id: "a", name: "f", arguments: '{"x":1}' },
      { id: "b", name: "g", arguments: "{}" },
    ],
    finishReason: "tool_calls",
    usage,
  });
});

test("hidden reasoning is left out and billed all the same", () => {
  const stream = encode([[started, reasoning("secret"), text("Hi"), finished()]], {
    separateUsage: true,
    hideReasoning: true,
  });
  expect(stream).not.toContain("secret");
  expect(readChatStream(stream, { separateUsage: true })).toMatchObject({ reasoning: "", content: "Hi", usage });
});

test("a failure in the middle is an error without a finish reason", () => {
  const encoder = chatStream(head, { separateUsage: false, hideReasoning: false });
  const failure = encoder.fail(refused(Reason.ENGINE_FAILED, "It broke.", Code.Unavailable));
  const answer = readChatStream(encoder.encode([started, text("Hi")]) + failure, { separateUsage: false });
  expect(answer).toEqual({
    content: "Hi",
    reasoning: "",
    toolCalls: [],
    error: { message: "It broke.", type: "server_error", param: null, code: "upstream_error" },
  });
});

test("a keep-alive may come between any two events", () => {
  const encoder = chatStream(head, { separateUsage: true, hideReasoning: false });
  const parts = [[started], [text("a")], [finished()]].map((batch) => encoder.encode(batch));
  const stream = encoder.keepAlive + encoder.keepAlive + parts.join(encoder.keepAlive);
  expect(readChatStream(stream, { separateUsage: true })).toMatchObject({ content: "a" });
});

test("nothing is said of events without content, or of a newer core", () => {
  expect(encode([[text(""), reasoning(""), piece(0, ""), event({})]])).toBe("");
});

const anyText = fc.string({ unit: "binary", minLength: 1, maxLength: 8 });

/** An answer's events in any order that the contract allows, and what they say. */
const anyAnswer = fc
  .array(
    fc.oneof(
      anyText.map((value) => ({ kind: "text" as const, value })),
      anyText.map((value) => ({ kind: "reasoning" as const, value })),
      fc.record({ kind: fc.constant("call" as const), name: fc.stringMatching(/^[a-z]{1,5}$/) }),
      fc.record({ kind: fc.constant("piece" as const), of: fc.nat(), value: anyText }),
    ),
    { maxLength: 30 },
  )
  .map((steps) => {
    const events = [started];
    const said: StreamedAnswer = { content: "", reasoning: "", toolCalls: [] };
    for (const step of steps) {
      if (step.kind === "text") {
        events.push(text(step.value));
        said.content += step.value;
      } else if (step.kind === "reasoning") {
        events.push(reasoning(step.value));
        said.reasoning += step.value;
      } else if (step.kind === "call") {
        const index = said.toolCalls.length;
        events.push(call(index, `call_${index}`, step.name));
        said.toolCalls.push({ id: `call_${index}`, name: step.name, arguments: "" });
      } else {
        const index = step.of % Math.max(1, said.toolCalls.length);
        const target = said.toolCalls[index];
        if (target === undefined) {
          continue;
        }
        events.push(piece(index, step.value));
        target.arguments += step.value;
      }
    }
    return { events: [...events, finished()], said };
  });

test("any answer, cut into batches anyhow, is a stream that says the same", () => {
  fc.assert(
    fc.property(
      anyAnswer,
      fc.infiniteStream(fc.integer({ min: 1, max: 5 })),
      fc.boolean(),
      (answer, sizes, separateUsage) => {
        const rest = [...answer.events];
        const batches: GenerationEvent[][] = [];
        while (rest.length > 0) {
          batches.push(rest.splice(0, sizes.next().value));
        }
        const stream = encode(batches, { separateUsage, hideReasoning: false });
        expect(stream).toBe(encode([answer.events], { separateUsage, hideReasoning: false }));
        expect(readChatStream(stream, { separateUsage })).toEqual({ ...answer.said, finishReason: "stop", usage });
      },
    ),
    { numRuns: 300 },
  );
});
