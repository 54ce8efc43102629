import { expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { FinishReason, type GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { StreamEncoder } from "../../../../facades/messages/response/stream.ts";
import { args, call, finished, reasoning, started, text } from "../events.ts";
import { samples } from "../samples.ts";
import { decodeStream } from "./stream-grammar.ts";

/** The body that the batches make. */
function body(...batches: GenerationEvent[][]): string {
  const encoder = new StreamEncoder("m", "req_r1");
  return batches.map((batch) => encoder.encode(batch)).join("");
}

/** The stream in short: "thinking+", "thinking:words", "thinking-" for a block that starts, grows and stops. */
function outline(...events: GenerationEvent[]): string[] {
  let open = "";
  return body(events)
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)))
    .flatMap(({ type, content_block, delta }) => {
      switch (type) {
        case "content_block_start":
          open = content_block.id ?? content_block.type;
          return [`${open}+`];
        case "content_block_delta":
          if (delta.type === "signature_delta") {
            return [];
          }
          return [`${open}:${delta.text ?? delta.thinking ?? delta.partial_json}`];
        case "content_block_stop":
          return [`${open}-`];
        case "message_delta":
          return [delta.stop_reason];
        default:
          return [];
      }
    });
}

test("a whole stream, byte for byte", () => {
  const events = [
    started("r1", 12n),
    reasoning("Hm"),
    text("Hi"),
    finished(FinishReason.STOP, { reasoningTokens: 3n }),
  ];
  expect(body(events)).toBe(
    [
      `event: message_start`,
      `data: {"type":"message_start","message":{"id":"msg_r1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0,"output_tokens_details":null,"service_tier":null,"cache_creation":null,"inference_geo":null,"server_tool_use":null,"speed":null,"iterations":null,"fallback_credit":null},"container":null,"context_management":null,"stop_details":null,"diagnostics":null}}`,
      ``,
      `event: content_block_start`,
      `data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
      ``,
      `event: content_block_delta`,
      `data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}`,
      ``,
      `event: content_block_delta`,
      `data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"tollgate"}}`,
      ``,
      `event: content_block_stop`,
      `data: {"type":"content_block_stop","index":0}`,
      ``,
      `event: content_block_start`,
      `data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
      ``,
      `event: content_block_delta`,
      `data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hi"}}`,
      ``,
      `event: content_block_stop`,
      `data: {"type":"content_block_stop","index":1}`,
      ``,
      `event: message_delta`,
      `data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"container":null,"stop_details":null},"usage":{"input_tokens":12,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5,"output_tokens_details":{"thinking_tokens":3},"service_tier":null,"cache_creation":null,"inference_geo":null,"server_tool_use":null,"speed":null,"iterations":null,"fallback_credit":null},"context_management":null}`,
      ``,
      `event: message_stop`,
      `data: {"type":"message_stop"}`,
      ``,
      ``,
    ].join("\n"),
  );
});

test.each<[string, GenerationEvent[], string[]]>([
  ["nothing but an end", [], ["end_turn"]],
  [
    "empty pieces begin no block",
    [reasoning(""), text(""), text("a"), reasoning("")],
    ["text+", "text:a", "text-", "end_turn"],
  ],
  [
    "text before thinking",
    [text("a"), reasoning("b"), text("c")],
    ["text+", "text:a", "text-", "thinking+", "thinking:b", "thinking-", "text+", "text:c", "text-", "end_turn"],
  ],
  [
    "one call after another, each closed as soon as its arguments are whole",
    [call(0), args(0, '{"a":'), args(0, "1}"), args(0, "\n"), call(1), args(1, "{}"), text("x")],
    [
      "call_0+",
      'call_0:{"a":',
      "call_0:1}",
      "call_0-",
      "call_1+",
      "call_1:{}",
      "call_1-",
      "text+",
      "text:x",
      "text-",
      "end_turn",
    ],
  ],
  [
    "interleaved calls",
    [call(0), call(1), args(1, '{"b":'), args(0, "{"), args(1, "2}"), call(2), args(0, "}"), args(2, "[]")],
    [
      ...["call_0+", "call_0:{", "call_0:}", "call_0-", "call_1+", 'call_1:{"b":', "call_1:2}", "call_1-"],
      ...["call_2+", "call_2:[]", "call_2-", "end_turn"],
    ],
  ],
  [
    "text amid a call waits for it",
    [call(0), args(0, "{"), text("a"), reasoning("b"), args(0, "}"), reasoning("c"), text("d")],
    [
      ...["call_0+", "call_0:{", "call_0:}", "call_0-", "text+", "text:a", "text-"],
      ...["thinking+", "thinking:b", "thinking:c", "thinking-", "text+", "text:d", "text-", "end_turn"],
    ],
  ],
  ["a call without arguments", [call(0), args(0, "")], ["call_0+", "call_0:{}", "call_0-", "end_turn"]],
  [
    "braces and quotes within strings",
    [call(0), args(0, '{"a":"}\\"'), args(0, '}\\\\"'), args(0, "}"), text("x")],
    ["call_0+", 'call_0:{"a":"}\\"', 'call_0:}\\\\"', "call_0:}", "call_0-", "text+", "text:x", "text-", "end_turn"],
  ],
  [
    "arguments that never end",
    [call(0), args(0, '{"a'), call(1), args(1, "{}"), text("x")],
    ["call_0+", 'call_0:{"a', "call_0-", "call_1+", "call_1:{}", "call_1-", "text+", "text:x", "text-", "end_turn"],
  ],
  ["arguments of no call", [args(3, "{}"), text("x")], ["text+", "text:x", "text-", "end_turn"]],
])("%s", (_, events, expected) => {
  expect(outline(started(), ...events, finished())).toEqual(expected);
});

test.each([
  [FinishReason.STOP, "end_turn"],
  [FinishReason.LENGTH, "max_tokens"],
  [FinishReason.TOOL_CALLS, "tool_use"],
  [FinishReason.CONTENT_FILTER, "refusal"],
])("finish reason %i reads as %s", (reason, expected) => {
  expect(decodeStream(body([started(), finished(reason)])).stopReason).toBe(expected);
});

test("arguments that the output limit cut are passed on as they are", () => {
  const answer = decodeStream(body([started(), call(0), args(0, '{"city":"Par'), finished(FinishReason.LENGTH)]));
  expect(answer.calls).toEqual([{ id: "call_0", name: "weather", input: '{"city":"Par' }]);
});

test("a failure is an event that ends the stream", () => {
  const encoder = new StreamEncoder("m", "req_r1");
  encoder.encode([started(), text("Hi")]);
  expect(encoder.fail(new Error("a secret"))).toBe(
    `event: error\ndata: {"type":"error","error":{"type":"api_error","message":"Internal server error."},"request_id":"req_r1"}\n\n`,
  );
});

test("a keep-alive is a ping", () => {
  expect(new StreamEncoder("m", "req_r1").keepAlive).toBe(`event: ping\ndata: {"type":"ping"}\n\n`);
});

test("any stream of events, however cut, decodes back to the same answer and usage", () => {
  void fc.assert(
    fc.property(samples, ({ answer, batches }) => {
      expect(decodeStream(body(...batches))).toMatchObject(answer);
    }),
    { numRuns: 500 },
  );
});
