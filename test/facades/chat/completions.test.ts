import { expect, test } from "@jest/globals";
import { CompletionSchema, CreateCompletionRequestSchema } from "#gen/tollgate/chat/v1/completion_pb.js";
import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { completion, continueRequest } from "../../../facades/chat/completions.ts";
import { jsonDecoder } from "../../../facades/http/json/decoder.ts";
import { jsonEncoder } from "../../../facades/http/json/encoder.ts";
import { startFront } from "../http/front-server.ts";
import { expectDescribed } from "../http/openapi.ts";
import { answer, finished, scriptedCore, started } from "../http/scripted-core.ts";

const decode = jsonDecoder(CreateCompletionRequestSchema);
const translated = (body: object) => continueRequest(decode({ model: "m", prompt: "p", ...body }), "req_1", {});

test.each<[body: object, expected: object]>([
  [
    {},
    { requestId: "req_1", model: "m", prompt: { case: "text", value: "p" }, maxOutputTokens: 16, stopSequences: [] },
  ],
  [{ prompt: ["p"] }, { prompt: { case: "text", value: "p" } }],
  [{ prompt: ["p", "q"] }, { prompt: { case: "texts", value: { texts: ["p", "q"] } } }],
  [{ max_tokens: 5 }, { maxOutputTokens: 5 }],
  [
    { temperature: 0.5, top_p: 0.5, seed: 1, stop: ["x"] },
    { sampling: { temperature: 0.5, topP: 0.5, seed: 1n }, stopSequences: ["x"] },
  ],
  [{ echo: false, suffix: "", n: 1, best_of: 1, logprobs: false, logit_bias: {}, user: "u" }, { maxOutputTokens: 16 }],
])("%j", (body, expected) => {
  expect(translated(body)).toMatchObject(expected);
});

test.each([
  [{ prompt: "" }, "prompt must not be empty."],
  [{ prompt: [] }, "prompt must not be empty."],
  [{ prompt: Array(17).fill("a") }, "prompt must have at most 16 items."],
  [{ prompt: ["a", ""] }, "prompt[1] must not be empty."],
  [{ prompt: Array(40).fill(1) }, "prompt[0] must be a string: arrays of token ids are not supported; send text."],
  [{ prompt: [[1], [2]] }, "prompt[0] must be a string: arrays of token ids are not supported; send text."],
  [{ prompt: [1] }, "prompt[0] must be a string: arrays of token ids are not supported; send text."],
  [{ prompt: null }, "prompt is required."],
  [{ n: 2 }, "n must be 1."],
  [{ best_of: 2 }, "best_of must be 1."],
  [{ echo: true }, "echo must be false."],
  [{ suffix: "x" }, 'suffix must be "": text cannot be inserted.'],
  [{ logprobs: 3 }, "logprobs must be false: log probabilities are not available on this service."],
  [{ logit_bias: { 50256: -100 } }, "logit_bias must be {}: token biases are not available on this service."],
])("%j is refused", (body, message) => {
  expect(() => translated(body)).toThrow(message);
});

test("a whole answer has no place for thinking", () => {
  const usage = { $typeName: "tollgate.inference.v1.Usage" as const, lots: [], inputTokens: 3n, outputTokens: 2n };
  const whole = completion({ id: "cmpl-1", created: 5, model: "m" }, [
    { reasoning: "secret", text: "Hi", toolCalls: [], finishReason: FinishReason.LENGTH, usage, serviceClass: 2 },
  ]);
  const json = JSON.parse(jsonEncoder(CompletionSchema)(whole));
  expect(json).toEqual({
    id: "cmpl-1",
    object: "text_completion",
    created: 5,
    model: "m",
    choices: [{ index: 0, text: "Hi", logprobs: null, finish_reason: "length" }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, prompt_tokens_details: { cached_tokens: 0 } },
  });
  expectDescribed("/v1/completions", "post", 200, json);
});

test.each([false, true])("a stream, with usage apart: %s", async (separateUsage) => {
  const events = [
    started(),
    { event: { case: "reasoning" as const, value: "secret" } },
    ...answer("Hi").slice(1, 2),
    finished(2),
  ];
  const { transport } = scriptedCore({
    async *generate() {
      for (const event of events) {
        yield { events: [event] };
      }
    },
  });
  await using front = await startFront(transport);
  const body = { model: "m", prompt: "p", stream: true, stream_options: { include_usage: separateUsage } };
  const response = await fetch(`${front.url}/v1/completions`, { method: "POST", body: JSON.stringify(body) });
  const data = (await response.text()).split("\n\n").map((event) => event.replace(/^data: /, ""));
  expect(data.splice(-2)).toEqual(["[DONE]", ""]);
  const chunks = data.map((text) => JSON.parse(text));
  for (const chunk of chunks) {
    expectDescribed("/v1/completions", "post", 200, chunk, "text/event-stream");
    expect(chunk).toMatchObject({ id: expect.stringMatching(/^cmpl-/), object: "text_completion", model: "m" });
  }
  const usage = expect.objectContaining({ prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 });
  const last = { choices: [{ index: 0, text: "", logprobs: null, finish_reason: "length" }] };
  expect(chunks).toMatchObject([
    { choices: [{ index: 0, text: "Hi", logprobs: null, finish_reason: null }] },
    ...(separateUsage ? [last, { choices: [], usage }] : [{ ...last, usage }]),
  ]);
  expect(chunks.filter((chunk) => "usage" in chunk)).toHaveLength(1);
});
