import { Code, type ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { withRateLimit } from "#lib/rpc/rate-limit.ts";
import { startFront } from "../http/front-server.ts";
import { expectDescribed, expectDescribedRequest } from "../http/openapi.ts";
import { type EventInit, finished, refused, type Script, scriptedCore, started } from "../http/scripted-core.ts";
import { readChatStream } from "./response/stream-grammar.ts";

const body = { model: "m", messages: [{ role: "user", content: "hi" }] };
const events: EventInit[] = [
  started(),
  { event: { case: "reasoning", value: "hm" } },
  { event: { case: "text", value: "Hé" } },
  { event: { case: "toolCallStarted", value: { index: 0, id: "c", name: "f" } } },
  { event: { case: "toolCallArguments", value: { index: 0, fragment: "{}" } } },
  finished(3),
];
const script: Partial<Script> = {
  async *generate() {
    for (const event of events) {
      yield { events: [event] };
    }
  },
};

async function post(
  path: string,
  json: object,
  told = script,
): Promise<{ status: number; headers: Headers; text: string }> {
  await using front = await startFront(scriptedCore(told).transport);
  const response = await fetch(front.url + path, { method: "POST", body: JSON.stringify(json) });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const toolCall = { id: "c", name: "f", arguments: "{}" };

test("an answer, whole", async () => {
  expectDescribedRequest("/v1/chat/completions", body);
  const { status, headers, text } = await post("/v1/chat/completions", body);
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("application/json");
  const json = JSON.parse(text);
  expectDescribed("/v1/chat/completions", "post", 200, json);
  expect(json).toMatchObject({
    id: headers.get("x-request-id")?.replace("req_", "chatcmpl-"),
    created: 1769860800,
    model: "m",
    choices: [{ message: { content: "Hé", reasoning: "hm", tool_calls: [{ id: "c" }] }, finish_reason: "tool_calls" }],
    usage: { total_tokens: 12 },
  });
});

test.each([
  [undefined, false],
  [{}, false],
  [{ include_usage: false }, false],
  [{ include_usage: true }, true],
])("an answer, streamed with stream_options %j", async (streamOptions, separateUsage) => {
  const { status, text } = await post("/v1/chat/completions", { ...body, stream: true, stream_options: streamOptions });
  expect(status).toBe(200);
  for (const [, data] of text.matchAll(/^data: (\{.*\})$/gm)) {
    expectDescribed("/v1/chat/completions", "post", 200, JSON.parse(data ?? ""), "text/event-stream");
  }
  expect(readChatStream(text, { separateUsage })).toMatchObject({
    content: "Hé",
    reasoning: "hm",
    toolCalls: [toolCall],
    finishReason: "tool_calls",
    usage: { total_tokens: 12 },
  });
});

test.each([false, true])("reasoning.exclude hides the thinking, streamed: %s", async (stream) => {
  const { text } = await post("/v1/chat/completions", { ...body, stream, reasoning: { exclude: true } });
  expect(text).not.toContain("hm");
  expect(text).toContain('"reasoning_tokens":2');
});

describe("every error of the core, over the wire", () => {
  const soon = { retryAfter: { seconds: 5n, nanos: 0 } };
  const usedUp = { limit: 60, remaining: 0, resetAfterMs: 5000 };
  const errors: [
    error: ConnectError,
    status: number,
    type: string,
    code: string,
    headers: Record<string, string | null>,
  ][] = [
    [
      refused(Reason.INVALID_ARGUMENT, "Bad.", Code.InvalidArgument, { parameter: "sampling.top_p" }),
      400,
      "invalid_request_error",
      "invalid_value",
      {},
    ],
    [
      refused(Reason.UNAUTHENTICATED, "Who?", Code.Unauthenticated),
      401,
      "invalid_request_error",
      "invalid_api_key",
      {},
    ],
    [refused(Reason.MODEL_NOT_FOUND, "No.", Code.NotFound), 404, "invalid_request_error", "model_not_found", {}],
    [refused(Reason.MODEL_KIND_MISMATCH, "No.", Code.NotFound), 404, "invalid_request_error", "model_not_found", {}],
    [refused(Reason.CONTEXT_LENGTH_EXCEEDED, "Long."), 400, "invalid_request_error", "context_length_exceeded", {}],
    [
      withRateLimit(refused(Reason.RATE_LIMITED, "Slow.", Code.ResourceExhausted, soon), usedUp),
      429,
      "rate_limit_error",
      "rate_limit_exceeded",
      { "retry-after": "5", "x-ratelimit-remaining-requests": "0", "x-should-retry": null },
    ],
    [
      refused(Reason.FREE_TIER_LIMITED, "Free.", Code.ResourceExhausted, soon),
      429,
      "rate_limit_error",
      "free_tier_limit_exceeded",
      { "x-should-retry": "false" },
    ],
    [
      refused(Reason.BALANCE_EXHAUSTED, "Empty.", Code.ResourceExhausted),
      429,
      "insufficient_quota",
      "insufficient_quota",
      { "retry-after": null, "x-should-retry": "false" },
    ],
    [
      refused(Reason.BALANCE_HELD, "Held.", Code.ResourceExhausted, soon),
      429,
      "rate_limit_error",
      "balance_held",
      { "retry-after": "5" },
    ],
    [
      refused(Reason.OVERLOADED, "Busy.", Code.Unavailable, soon),
      503,
      "server_error",
      "overloaded",
      { "retry-after": "5" },
    ],
    [refused(Reason.ENGINE_FAILED, "Broken.", Code.Unavailable), 502, "server_error", "upstream_error", {}],
    [refused(Reason.TIMEOUT, "Late.", Code.DeadlineExceeded), 504, "server_error", "timeout", {}],
  ];

  describe.each([
    ["/v1/chat/completions", body],
    ["/v1/chat/completions", { ...body, stream: true }],
    ["/v1/completions", { model: "m", prompt: "p", stream: true }],
    ["/v1/embeddings", { model: "m", input: "a" }],
  ])("%s %j", (path, request) => {
    test.each(errors)("%#", async (error, status, type, code, expected) => {
      const fail = () => {
        throw error;
      };
      const answer = await post(path, request, { generate: fail, embed: fail });
      expect(answer.status).toBe(status);
      const json = JSON.parse(answer.text);
      expect(json.error).toMatchObject({ type, code });
      expectDescribed(path, "post", status, json);
      for (const [name, value] of Object.entries(expected)) {
        expect(answer.headers.get(name)).toBe(value);
      }
    });
  });
});

test("a failure after the first output ends the stream as an event", async () => {
  const { status, text } = await post(
    "/v1/chat/completions",
    { ...body, stream: true },
    {
      async *generate() {
        yield { events: events.slice(0, 3) };
        throw refused(Reason.ENGINE_FAILED, "It broke.", Code.Unavailable);
      },
    },
  );
  expect(status).toBe(200);
  expect(readChatStream(text, { separateUsage: false })).toMatchObject({
    content: "Hé",
    error: { type: "server_error", code: "upstream_error", message: "It broke." },
  });
});

test("embeddings carry the rate limit and come in input order", async () => {
  const rateLimit = { limit: 60, remaining: 12, resetAfterMs: 0 };
  const embed: Script["embed"] = ({ inputs }) => ({
    vectors: inputs.map((_, index) => new Uint8Array(new Float32Array([index]).buffer)),
    inputTokens: 4n,
  });
  const { headers, text } = await post("/v1/embeddings", { model: "m", input: ["a", "b", "c"] }, { embed, rateLimit });
  expect(headers.get("x-ratelimit-remaining-requests")).toBe("12");
  expect(JSON.parse(text).data.map(({ embedding }: { embedding: number[] }) => embedding[0])).toEqual([0, 1, 2]);
});
