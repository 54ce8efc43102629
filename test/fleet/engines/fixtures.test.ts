import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { EngineOutput, EngineUsage } from "#src/fleet/engines/interface.ts";
import { llamaCpp } from "#src/fleet/engines/llama-cpp/dialect.ts";
import { LineReader } from "#src/fleet/engines/ollama/stream.ts";
import { openaiCompatible } from "#src/fleet/engines/openai-compatible/dialect.ts";
import { sglang } from "#src/fleet/engines/sglang/dialect.ts";
import { AnswerBuilder } from "#src/fleet/engines/shared/answer/answer-builder.ts";
import { ChunkParser } from "#src/fleet/engines/shared/chat-completions/chunk-parser.ts";
import { ChunkReader } from "#src/fleet/engines/shared/chat-completions/chunk-reader.ts";
import type { Dialect } from "#src/fleet/engines/shared/chat-completions/dialect.ts";
import { SseReader } from "#src/fleet/engines/shared/chat-completions/stream.ts";
import type { StreamReader } from "#src/fleet/engines/shared/http/stream.ts";
import { trtllm } from "#src/fleet/engines/trtllm/dialect.ts";
import { vllm } from "#src/fleet/engines/vllm/dialect.ts";
import { type Answer, join } from "./collect.ts";
import { chatRequest } from "./requests.ts";

// Answers as each engine writes them, read in pieces of every size.

type NewReader = (answer: AnswerBuilder) => StreamReader;

const chunks =
  (dialect: Dialect): NewReader =>
  (answer) =>
    new SseReader(dialect.engine, new ChunkReader(dialect.engine, dialect, new ChunkParser(), answer));
const lines: NewReader = (answer) => new LineReader("ollama", answer);

function read(bytes: Buffer, pieceLength: number, newReader: NewReader) {
  const request = chatRequest("two words");
  const reader = newReader(new AnswerBuilder(request, { where: "engine", sendsReasoning: false }));
  const outputs: EngineOutput[] = [];
  let error: unknown;
  try {
    for (let at = 0; at < bytes.length; at += pieceLength) {
      reader.push(bytes.subarray(at, at + pieceLength));
      outputs.push(...[reader.take()].filter((output) => output !== undefined));
    }
    reader.end();
  } catch (failed) {
    error = failed;
  }
  outputs.push(...[reader.take()].filter((output) => output !== undefined));
  return { outputs, error, answer: join(outputs.flatMap(({ events }) => events)) };
}

const thought: Answer = { reasoning: "hm", text: "Hello", calls: [] };
const usage = { inputTokens: 11, outputTokens: 5, cachedInputTokens: 8 };

const fixtures: [string, NewReader, Answer, EngineUsage, FinishReason][] = [
  [
    "vllm/reasoning.sse",
    chunks(vllm),
    { ...thought, reasoning: "Grüße 😀" },
    { ...usage, outputTokens: 7, reasoningTokens: 3 },
    FinishReason.STOP,
  ],
  ["sglang/reasoning.sse", chunks(sglang), thought, { ...usage, reasoningTokens: 3 }, FinishReason.STOP],
  ["llama.cpp/reasoning.sse", chunks(llamaCpp), thought, usage, FinishReason.STOP],
  ["trtllm/reasoning.sse", chunks(trtllm), thought, usage, FinishReason.STOP],
  [
    "openai/answer.sse",
    chunks(openaiCompatible),
    { ...thought, reasoning: "" },
    { inputTokens: 11, outputTokens: 3 },
    FinishReason.STOP,
  ],
  ["ollama/reasoning.ndjson", lines, thought, { inputTokens: 11, outputTokens: 5 }, FinishReason.STOP],
  [
    "ollama/tool-calls.ndjson",
    lines,
    {
      reasoning: "",
      text: "",
      calls: [
        { id: "call_1", name: "weather", arguments: '{"city":"Oslo"}' },
        { id: "call_run-1_1", name: "time", arguments: "{}" },
      ],
    },
    { inputTokens: 11, outputTokens: 9 },
    FinishReason.TOOL_CALLS,
  ],
];

describe.each(fixtures)("%s", (name, reader, answer, counted, finish) => {
  const bytes = readFileSync(new URL(`fixtures/${name}`, import.meta.url));

  test.each([1, 5, 100, bytes.length])("in pieces of %d bytes", (pieceLength) => {
    const result = read(bytes, pieceLength, reader);
    expect(result.error).toBeUndefined();
    expect(result.answer).toEqual(answer);
    expect(result.outputs.at(-1)).toMatchObject({ usage: counted, finish });
    expect(result.outputs.filter((output) => output.finish !== undefined)).toHaveLength(1);
  });

  test("cut anywhere, it fails and has counted what came", () => {
    for (let end = 0; end < bytes.length - 60; end += 23) {
      const { outputs, error } = read(bytes.subarray(0, end), bytes.length, reader);
      if (outputs.at(-1)?.finish !== undefined) {
        continue; // what was cut was said before
      }
      expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
      const last = outputs.at(-1);
      if (last === undefined || last.events.length === 0) {
        continue;
      }
      expect(last.usage?.inputTokens).toBeGreaterThan(0);
      expect(last.usage?.outputTokens).toBeGreaterThan(0);
      expect(last.usage?.outputTokens).toBeLessThanOrEqual(counted.outputTokens);
    }
  });
});
