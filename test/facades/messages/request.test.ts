import { expect, test } from "@jest/globals";
import { Thinking } from "#gen/inference/v1/inference_service_pb.js";
import { CreateMessageRequestSchema } from "#gen/messages/v1/messages_service_pb.js";
import { jsonDecoder } from "../../../facades/http/json-decoder.ts";
import { generateRequest } from "../../../facades/messages/request.ts";

const decode = jsonDecoder(CreateMessageRequestSchema);
const plain = { model: "m", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] };

function translate(fields: object) {
  return generateRequest(decode({ ...plain, ...fields }), "r1");
}

test("a plain request", () => {
  const request = translate({});
  expect(request).toMatchObject({ requestId: "r1", model: "m", maxOutputTokens: 100, stopSequences: [] });
  expect(request.sampling).toEqual({ $typeName: "inference.v1.Sampling" });
  expect(request.thinking).toBe(Thinking.UNSPECIFIED);
});

test.each([
  [{ temperature: 0.2 }, { temperature: 0.2 }],
  [{ temperature: 0 }, { temperature: 0 }],
  [{ temperature: null, top_p: null, top_k: null }, {}],
  [
    { top_p: 0.9, top_k: 40 },
    { topP: 0.9, topK: 40 },
  ],
  [{ top_p: -1, top_k: -1 }, { topK: 0 }], // "not set" of older clients
])("sampling %j", (fields, sampling) => {
  expect(translate(fields).sampling).toEqual({ $typeName: "inference.v1.Sampling", ...sampling });
});

test.each([
  [{ thinking: { type: "enabled", budget_tokens: 4096 } }, Thinking.ON],
  [{ thinking: { type: "enabled" } }, Thinking.ON],
  [{ thinking: { type: "adaptive", display: "omitted" } }, Thinking.ON],
  [{ thinking: { type: "disabled" } }, Thinking.OFF],
  [{ thinking: { type: "between_tools" } }, Thinking.OFF],
  [{ thinking: null }, Thinking.UNSPECIFIED],
  [{ thinking: { type: "adaptive" }, output_config: { effort: "low" } }, Thinking.LOW],
  [{ thinking: { type: "adaptive" }, output_config: { effort: "medium" } }, Thinking.MEDIUM],
  [{ thinking: { type: "adaptive" }, output_config: { effort: "high" } }, Thinking.HIGH],
  [{ thinking: { type: "adaptive" }, output_config: { effort: "xhigh" } }, Thinking.HIGH],
  [{ thinking: { type: "enabled" }, output_config: { effort: "max" } }, Thinking.MAX],
  [{ thinking: { type: "disabled" }, output_config: { effort: "max" } }, Thinking.OFF],
  [{ output_config: { effort: "high" } }, Thinking.UNSPECIFIED], // a model that is off by default needs `enabled`
  [{ output_config: { effort: null, format: null } }, Thinking.UNSPECIFIED],
])("thinking %j", (fields, thinking) => {
  expect(translate(fields).thinking).toBe(thinking);
});

test("stop sequences", () => {
  expect(translate({ stop_sequences: ["END", "", "\n\n"] }).stopSequences).toEqual(["END", "\n\n"]);
  expect(translate({ stop_sequences: null }).stopSequences).toEqual([]);
});

test("what is not known or not offered without harm is ignored", () => {
  const ignored = {
    metadata: { user_id: "u" },
    service_tier: "auto",
    container: null,
    context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
    mcp_servers: [],
    diagnostics: {},
    speed: "fast",
    inference_geo: "eu",
    cache_control: { type: "ephemeral" },
    user_profile_id: "u",
    betas: ["x"],
    anything_else: [1],
  };
  expect(translate(ignored)).toEqual(translate({}));
});

test.each([
  [{ model: undefined }, "model"],
  [{ max_tokens: undefined }, "max_tokens"],
  [{ max_tokens: null }, "max_tokens"],
  [{ max_tokens: 0 }, "max_tokens"],
  [{ max_tokens: 1.5 }, "max_tokens"],
  [{ max_tokens: "10" }, "max_tokens"],
  [{ messages: undefined }, "messages"],
  [{ messages: [] }, "messages"],
  [{ messages: "Hi" }, "messages"],
  [{ temperature: 2.5 }, "temperature"],
  [{ temperature: "hot" }, "temperature"],
  [{ top_p: 1.1 }, "top_p"],
  [{ top_k: 0.5 }, "top_k"],
  [{ stream: "yes" }, "stream"],
  [{ stop_sequences: "END" }, "stop_sequences"],
  [{ stop_sequences: ["END", 1] }, "stop_sequences[1]"],
  [{ thinking: { type: "sometimes" } }, "thinking.type"],
  [{ thinking: {} }, "thinking.type"],
  [{ output_config: { effort: "ultra" } }, "output_config.effort"],
  [{ output_config: { format: { type: "json_schema", schema: {} } } }, "output_config.format"],
  [{ output_format: { type: "json_schema", schema: {} } }, "output_format"],
])("%j is refused at %s", (fields, param) => {
  expect(() => translate(fields)).toThrow(expect.objectContaining({ status: 400, param }));
});
