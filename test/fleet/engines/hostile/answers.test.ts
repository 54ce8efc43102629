import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { eventually } from "../../../support/eventually.ts";
import { type HostileFleet, startHostileFleet } from "./hostile-fleet.ts";
import { answerChunks, generators, textChunk } from "./hostile-server.ts";

// Answers that no sound server sends, over the real wire: each is the server's failure, never our bug.

const evil = { toString: 1, valueOf: 1 };
const odd: readonly unknown[] = [5, true, "text", [], [[]], {}, evil, -1];

/** Places of an answer that have a type, and what would be right there. */
const openAiPlaces: readonly [place: string, right: string, chunk: (value: unknown) => unknown][] = [
  ["the chunk", "object", (value) => value],
  ["choices", "list", (value) => ({ choices: value })],
  ["a choice", "object", (value) => ({ choices: [value] })],
  ["a delta", "object", (value) => ({ choices: [{ delta: value }] })],
  ["content", "text", (value) => ({ choices: [{ delta: { content: value } }] })],
  ["reasoning", "text", (value) => ({ choices: [{ delta: { reasoning: value } }] })],
  ["reasoning_content", "text", (value) => ({ choices: [{ delta: { reasoning_content: value } }] })],
  ["a completion's text", "text", (value) => ({ choices: [{ text: value }] })],
  ["a finish reason", "text", (value) => ({ choices: [{ delta: {}, finish_reason: value }] })],
  ["tool calls", "list", (value) => ({ choices: [{ delta: { tool_calls: value } }] })],
  ["a tool call", "object", (value) => ({ choices: [{ delta: { tool_calls: [value] } }] })],
  ["a tool call's index", "count", (value) => ({ choices: [{ delta: { tool_calls: [{ index: value }] } }] })],
  ["a tool call's id", "text", (value) => ({ choices: [{ delta: { tool_calls: [{ id: value }] } }] })],
  ["a function", "object", (value) => ({ choices: [{ delta: { tool_calls: [{ function: value }] } }] })],
  ["a name", "text", (value) => ({ choices: [{ delta: { tool_calls: [{ function: { name: value } }] } }] })],
  ["a function call", "object", (value) => ({ choices: [{ delta: { function_call: value } }] })],
  ["usage", "object", (value) => ({ usage: value })],
  ["an error", "none", (value) => ({ error: value })],
  ["an error's code", "none", (value) => ({ error: { message: "x", code: value, type: value } })],
];
const ollamaPlaces: typeof openAiPlaces = [
  ["the line", "object", (value) => value],
  ["a message", "object", (value) => ({ message: value })],
  ["content", "text", (value) => ({ message: { content: value } })],
  ["thinking", "text", (value) => ({ message: { thinking: value } })],
  ["tool calls", "list", (value) => ({ message: { tool_calls: value } })],
  ["a tool call", "object", (value) => ({ message: { tool_calls: [value] } })],
  ["a function", "object", (value) => ({ message: { tool_calls: [{ function: value }] } })],
  ["a name", "text", (value) => ({ message: { tool_calls: [{ function: { name: value } }] } })],
  ["a done reason", "text", (value) => ({ done: true, done_reason: value, prompt_eval_count: 5, eval_count: 1 })],
  ["an error", "none", (value) => ({ error: value })],
];

function isRight(kind: string, value: unknown): boolean {
  if (kind === "list") {
    return Array.isArray(value);
  }
  if (kind === "text") {
    return typeof value === "string";
  }
  if (kind === "count") {
    return Number.isInteger(value) && Number(value) >= 0;
  }
  return kind === "object" && typeof value === "object" && !Array.isArray(value);
}

async function fails(hostile: HostileFleet): Promise<void> {
  const { error, outputs } = await hostile.generate({ maxOutputTokens: 5 });
  expect(error).toBeDefined();
  expect([Reason.ENGINE_FAILED, Reason.INVALID_ARGUMENT, Reason.OVERLOADED]).toContain(readDetail(error)?.reason);
  for (const { event } of outputs.flatMap(({ events }) => events)) {
    if (event.case === "text" || event.case === "reasoning") {
      expect(typeof event.value).toBe("string");
    }
  }
}

describe.each(generators)("%s", (engine) => {
  let hostile: HostileFleet;
  beforeEach(async () => {
    hostile = await startHostileFleet(engine);
  });
  afterEach(async () => hostile[Symbol.asyncDispose]());

  const places = engine === "ollama" ? ollamaPlaces : openAiPlaces;
  test.each(places)("%s of another type is the server's failure", async (_, right, chunk) => {
    for (const value of odd.filter((one) => !isRight(right, one))) {
      hostile.server.chunks = [chunk(value)];
      await fails(hostile);
    }
  });

  test("a hundred and twenty-nine tool calls are too many", async () => {
    const call = (index: number) => ({ index, id: `c${index}`, function: { name: "f", arguments: {} } });
    const calls = Array.from({ length: 129 }, (_, index) => call(index));
    const chunk = (some: object[]) =>
      engine === "ollama" ? { message: { tool_calls: some } } : { choices: [{ delta: { tool_calls: some } }] };
    hostile.server.chunks = [chunk(calls.slice(0, 128)), ...answerChunks(engine, "", 5, 500)];
    expect((await hostile.run()).error).toBeUndefined();
    hostile.server.chunks = [chunk(calls), ...answerChunks(engine, "", 5, 500)];
    await fails(hostile);
  });

  test("a chunk of 15 MB, and JSON of a hundred thousand levels, are the server's failure", async () => {
    hostile.server.chunks = [textChunk(engine, "x".repeat(15_000_000))];
    await fails(hostile);
    let deep: unknown = [];
    for (let level = 0; level < 2000; level++) {
      deep = [deep];
    }
    hostile.server.chunks = [textChunk(engine, deep)];
    await fails(hostile);
  });
});

describe("bytes over HTTP", () => {
  let hostile: HostileFleet;
  beforeEach(async () => {
    hostile = await startHostileFleet("vllm");
  });
  afterEach(async () => hostile[Symbol.asyncDispose]());

  const flood = (response: ServerResponse, piece: string) => {
    const write = () => {
      while (!response.destroyed && response.write(piece)) {}
      if (!response.destroyed) {
        response.once("drain", write);
      }
    };
    write();
  };

  test.each<[string, (response: ServerResponse) => void]>([
    ["a line without an end", (response) => flood(response, "a".repeat(1000))],
    ["a comment without an end", (response) => flood(response, ": ping ".repeat(1000))],
    ["an event without an end", (response) => flood(response, `data: ${"1".repeat(1000)}\n`)],
    ["an error page without an end", (response) => flood(response.writeHead(500), "<html>".repeat(1000))],
    [
      "digits that a pattern could be lost in",
      (response) => {
        const message = `context size ${"1".repeat(60_000)}`;
        response.writeHead(500).end(JSON.stringify({ error: { message } }));
      },
    ],
    [
      "a limit beyond all numbers",
      (response) => {
        const body = '{"error":{"type":"exceed_context_size_error","n_ctx":1e999,"n_prompt_tokens":1.5}}';
        response.writeHead(500).end(body);
      },
    ],
    ["a redirect", (response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end()],
    [
      "a gzip bomb",
      (response) => {
        response.setHeader("content-encoding", "gzip");
        response.end(gzipSync(Buffer.alloc(30_000_000, " ")));
      },
    ],
    ["a huge header", (response) => response.writeHead(200, { "x-a": "b".repeat(100_000) }).end()],
    ["bytes that are no UTF-8", (response) => response.end(Buffer.from('data: {"a":\xff\xfe}\n\n', "latin1"))],
    ["nothing at all", (response) => response.end()],
    [
      "an end in the middle",
      (response) => {
        response.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n', () => response.destroy());
      },
    ],
  ])("%s is a failure", async (_, raw) => {
    hostile.server.raw = raw;
    const { error } = await hostile.run();
    expect([Reason.ENGINE_FAILED, Reason.CONTEXT_LENGTH_EXCEEDED]).toContain(readDetail(error)?.reason);
  });

  test("an early hint before the answer is none", async () => {
    hostile.server.raw = (response) => {
      response.writeEarlyHints({ link: "</a>; rel=preload" });
      for (const chunk of answerChunks("vllm", "abc", 5, 1)) {
        response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      }
      response.end("data: [DONE]\n\n");
    };
    expect((await hostile.run()).error).toBeUndefined();
  });

  test("what never ends after the answer's end gives its connection up", async () => {
    let closed = false;
    hostile.server.raw = (response) => {
      response.on("close", () => {
        closed = true;
      });
      for (const chunk of answerChunks("vllm", "abc", 5, 1)) {
        response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      }
      response.write("data: [DONE]\n\n");
      flood(response, ": more\n".repeat(1000));
    };
    expect((await hostile.run()).error).toBeUndefined();
    await eventually("the connection is closed", () => closed);
  });

  test.each(["/tokenize", "/v1/models", "/metrics", "/health"])("%s without an end is given up", async (path) => {
    hostile.server.answers[path] = (response) => flood(response, "{".repeat(10_000));
    expect(await hostile.count("hello").catch(() => undefined)).toBe(path === "/tokenize" ? undefined : 5);
  });
});
