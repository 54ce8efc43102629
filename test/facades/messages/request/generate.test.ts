import { expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { Thinking } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { CreateMessageRequestSchema } from "#gen/tollgate/messages/v1/create_message_pb.js";
import { jsonDecoder } from "../../../../facades/http/json/decoder.ts";
import { RequestError } from "../../../../facades/http/request/error.ts";
import { generateRequest } from "../../../../facades/messages/request/generate.ts";

const decode = jsonDecoder(CreateMessageRequestSchema);
const plain = { model: "m", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] };

function translate(fields: object) {
  return generateRequest(decode({ ...plain, ...fields }), "r1", {});
}

/** A conversation with a system turn for each output_config. */
function turnsOf(...configs: (object | null)[]) {
  return {
    messages: [...plain.messages, ...configs.map((output_config) => ({ role: "system", content: [], output_config }))],
  };
}

test("a plain request", () => {
  const request = translate({});
  expect(request).toMatchObject({ requestId: "r1", model: "m", maxOutputTokens: 100, stopSequences: [] });
  expect(request.sampling).toEqual({ $typeName: "tollgate.inference.v1.Sampling" });
  expect(request.thinking).toBe(Thinking.UNSPECIFIED);
});

test("a bound beyond 32 bits, which means none", () => {
  for (const max_tokens of [2 ** 32, Number.MAX_SAFE_INTEGER, 1e30]) {
    expect(translate({ max_tokens }).maxOutputTokens).toBe(2 ** 32 - 1);
  }
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
  expect(translate(fields).sampling).toEqual({ $typeName: "tollgate.inference.v1.Sampling", ...sampling });
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
  [{ thinking: { type: "adaptive" }, ...turnsOf({ effort: "low" }, {}, { effort: "max" }, null) }, Thinking.MAX],
  [{ thinking: { type: "adaptive" }, output_config: { effort: "low" }, ...turnsOf({}) }, Thinking.LOW],
])("thinking %j", (fields, thinking) => {
  expect(translate(fields).thinking).toBe(thinking);
});

test("stop sequences", () => {
  expect(translate({ stop_sequences: ["END", "", "\n\n"] }).stopSequences).toEqual(["END", "\n\n"]);
  expect(translate({ stop_sequences: null }).stopSequences).toEqual([]);
});

test.each([
  [{ user_id: "u" }, "u"],
  [{ user_id: 42 }, undefined],
  [{ user_id: ["u"] }, undefined],
  [{ user_id: null }, undefined],
  ["u", undefined],
  [[{ user_id: "u" }], undefined],
  [7, undefined],
])("metadata %j are never at fault, and tell of the user %s", (metadata, user) => {
  expect(decode({ ...plain, metadata }).metadata?.userId).toBe(user);
  expect(translate({ metadata })).toEqual(translate({}));
});

test("what is not known or not offered without harm is ignored", () => {
  const ignored = {
    metadata: { user_id: "u" },
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
  [{ compaction: { type: "summarize" } }, "compaction"],
])("%j is refused at %s", (fields, param) => {
  expect(() => translate(fields)).toThrow(expect.objectContaining({ status: 400, param }));
});

/** A request that has something of everything. */
const rich = {
  ...plain,
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
  messages: [
    { role: "user", content: [{ type: "text", text: "Weather?" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "s" },
        { type: "text", text: "Let me look." },
        { type: "tool_use", id: "t1", name: "weather", input: { city: "Oslo" } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "Snow" }] }] },
    { role: "system", content: "Be kind." },
  ],
  tools: [{ name: "weather", description: "Tells it", input_schema: { properties: {} } }],
  tool_choice: { type: "tool", name: "weather", disable_parallel_tool_use: true },
  thinking: { type: "enabled", budget_tokens: 1024 },
  output_config: { effort: "high" },
  metadata: { user_id: "u" },
  stop_sequences: ["END"],
  stream: true,
  temperature: 1,
  top_p: 1,
  top_k: 1,
};

/** The value with one spot in it replaced; the spot is chosen level by level. */
function withSpot(value: unknown, spot: readonly number[], replacement: unknown): unknown {
  const [at, ...rest] = spot;
  if (at === undefined || typeof value !== "object" || value === null) {
    return replacement;
  }
  const keys = Object.keys(value);
  const key = keys[at % keys.length];
  if (key === undefined) {
    return replacement;
  }
  const changed = withSpot((value as Record<string, unknown>)[key], rest, replacement);
  return Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed };
}

test("any JSON body is a request, or an error that names the field", () => {
  let requests = 0;
  let errors = 0;
  const spots = fc.array(fc.nat({ max: 20 }), { maxLength: 6 });
  void fc.assert(
    fc.property(spots, fc.jsonValue({ maxDepth: 3 }), (spot, replacement) => {
      try {
        const request = generateRequest(decode(withSpot(rich, spot, replacement)), "r1", {});
        expect(request.maxOutputTokens).toBeGreaterThan(0);
        requests++;
      } catch (error) {
        if (!(error instanceof RequestError)) {
          throw error;
        }
        expect(error.status).toBe(400);
        expect(error.message.startsWith(error.param === "" ? "The body" : error.param)).toBe(true);
        errors++;
      }
    }),
    { numRuns: 2000 },
  );
  expect(Math.min(requests, errors)).toBeGreaterThan(100);
});
