import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail, readTokenBound } from "#lib/errors/detail.ts";
import type { EngineFault } from "#src/fleet/engines/interface.ts";
import { streamFailure, toRefusal } from "#src/fleet/engines/shared/chat-completions/errors.ts";

const refused = (status: number, body: unknown, headers = {}) =>
  toRefusal("vllm", { status, headers, text: typeof body === "string" ? body : JSON.stringify(body) });

test.each<[number, Reason, boolean]>([
  [400, Reason.INVALID_ARGUMENT, false],
  [401, Reason.ENGINE_FAILED, false],
  [403, Reason.ENGINE_FAILED, false],
  [404, Reason.ENGINE_FAILED, false],
  [408, Reason.ENGINE_FAILED, true],
  [413, Reason.INVALID_ARGUMENT, false],
  [422, Reason.INVALID_ARGUMENT, false],
  [429, Reason.OVERLOADED, true],
  [500, Reason.ENGINE_FAILED, true],
  [502, Reason.ENGINE_FAILED, true],
  [503, Reason.OVERLOADED, true],
  [504, Reason.ENGINE_FAILED, true],
])("status %d", (status, reason, transient) => {
  const error = refused(status, { error: { message: "CUDA out of memory: a secret detail", type: "X", code: status } });
  expect(readDetail(error)?.reason).toBe(reason);
  expect((error.cause as EngineFault).transient).toBe(transient);
  expect(error.rawMessage).not.toContain("secret");
  expect((error.cause as EngineFault).message).toBe(`vllm answered ${status}: X ${status} out of memory`);
});

test.each<[string, object, [limit: number, actual?: number | undefined, requestedOutput?: number]]>([
  [
    "SGLang, prompt and output together",
    {
      object: "error",
      message:
        "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 32768 tokens: 13 tokens from the input messages and 32755 tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.",
      type: "BadRequestError",
      code: 400,
    },
    [32768, 13, 32755],
  ],
  [
    "vLLM 0.6",
    {
      object: "error",
      message:
        "This model's maximum context length is 40960 tokens. However, you requested 41000 tokens (20710 in the messages, 20290 in the completion). Please reduce the length of the messages or completion.",
      type: "BadRequestError",
      param: null,
      code: 400,
    },
    [40960, 20710, 20290],
  ],
  [
    "vLLM 0.16",
    {
      error: {
        message:
          "You passed 900 input tokens and requested 200 output tokens. However, the model's context length is only 1000 tokens, resulting in a maximum input length of 800 tokens. Please reduce the length of the input prompt.",
        type: "BadRequestError",
        param: "input_tokens",
        code: 400,
      },
    },
    [1000, 900, 200],
  ],
  [
    "vLLM 0.16 that stopped counting",
    {
      error: {
        message:
          "You passed 801 input tokens and requested 200 output tokens. However, the model's context length is only 1000 tokens, resulting in a maximum input length of 800 tokens.",
      },
    },
    [1000, undefined, 200],
  ],
  [
    "vLLM 0.20",
    {
      error: {
        message:
          "This model's maximum context length is 1000 tokens. However, you requested 200 output tokens and your prompt contains at least 801 input tokens, for a total of at least 1001 tokens.",
      },
    },
    [1000, undefined, 200],
  ],
  [
    "vLLM, by the output alone",
    {
      error: {
        message:
          "max_tokens=9000cannot be greater than max_model_len=max_total_tokens=8192. Please request fewer output tokens.",
      },
    },
    [8192, undefined, 9000],
  ],
  [
    "SGLang",
    {
      object: "error",
      message: "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
      type: "BadRequestError",
      code: 400,
    },
    [4096, 5000],
  ],
  [
    "llama-server",
    {
      error: {
        code: 400,
        message: "the request exceeds the available context size, try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 5000,
        n_ctx: 4096,
      },
    },
    [4096, 5000],
  ],
])("a prompt too long for the context, by %s", (_, body, [limit, actual, requestedOutput]) => {
  const detail = readDetail(refused(400, body));
  expect(detail?.reason).toBe(Reason.CONTEXT_LENGTH_EXCEEDED);
  const bound = detail && readTokenBound(detail);
  expect([bound?.limit, bound?.actual, bound?.requestedOutput].map((value) => value && Number(value))).toEqual([
    limit,
    actual,
    requestedOutput,
  ]);
});

test("says when to come back", () => {
  expect(readDetail(refused(503, "", { "retry-after": "7" }))?.retryAfter?.seconds).toBe(7n);
  expect(readDetail(refused(429, ""))?.retryAfter?.seconds).toBe(1n);
});

test.each(["<html>Bad Gateway</html>", "", "null", '"x"', { detail: "x" }, { detail: [{ msg: "x" }] }, { error: "x" }])(
  "understands the status whatever the body: %j",
  (body) => {
    expect(readDetail(refused(502, body))?.reason).toBe(Reason.ENGINE_FAILED);
  },
);

test("keeps what an engine quotes out of the log", () => {
  const message = "[{'type': 'missing', 'loc': ('body', 'messages'), 'input': {'messages': 'my secret'}}]";
  const { cause } = refused(400, { error: { message, type: "BadRequestError", code: 400 } });
  expect((cause as EngineFault).message).toContain("BadRequestError");
  expect((cause as EngineFault).message).not.toContain("secret");
});

test.each<[unknown, Reason]>([
  [{ message: "boom", code: 500 }, Reason.ENGINE_FAILED],
  [{ message: "full", code: 503 }, Reason.OVERLOADED],
  [{ message: "This model's maximum context length is 10 tokens." }, Reason.CONTEXT_LENGTH_EXCEEDED],
  ["boom", Reason.ENGINE_FAILED],
])("an error within a stream: %j", (value, reason) => {
  expect(readDetail(streamFailure("vllm", value))?.reason).toBe(reason);
});
