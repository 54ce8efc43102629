import { expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { FinishReason, type GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { MessageSchema } from "#gen/tollgate/messages/v1/message_pb.js";
import { collectAnswer } from "../../../../facades/http/core/answer.ts";
import { jsonEncoder } from "../../../../facades/http/json/encoder.ts";
import { toMessage } from "../../../../facades/messages/response/answer.ts";
import { args, call, finished, reasoning, started, text } from "../events.ts";
import { samples } from "../samples.ts";

const json = jsonEncoder(MessageSchema);

/** The body that the batches make. */
async function body(...batches: GenerationEvent[][]): Promise<string> {
  async function* stream() {
    for (const events of batches) {
      yield { $typeName: "tollgate.inference.v1.GenerateResponse" as const, choice: 0, events };
    }
  }
  return json(toMessage(await collectAnswer(stream()), "m", "req_r1"));
}

test("a whole message, byte for byte", async () => {
  const events = [
    started("r1"),
    text("Hi"),
    reasoning("Hm"),
    call(0),
    text(" there"),
    args(0, '{"b":1,'),
    reasoning("m"),
    args(0, '"a":2}'),
    finished(FinishReason.TOOL_CALLS, { reasoningTokens: 2n }),
  ];
  expect(await body(events)).toBe(
    '{"id":"msg_r1","type":"message","role":"assistant","model":"m","content":[' +
      '{"type":"thinking","thinking":"Hmm","signature":"tollgate"},' +
      '{"type":"text","text":"Hi there"},' +
      '{"type":"tool_use","id":"call_0","name":"weather","input":{"b":1,"a":2},"caller":{"type":"direct"}}],' +
      '"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":0,' +
      '"cache_read_input_tokens":0,"output_tokens":5,"output_tokens_details":{"thinking_tokens":2},' +
      '"service_tier":null,"cache_creation":null,"inference_geo":null,"server_tool_use":null,"speed":null,' +
      '"iterations":null,"fallback_credit":null},"container":null,"context_management":null,"stop_details":null,' +
      '"diagnostics":null}',
  );
});

test("an answer of nothing has no blocks", async () => {
  expect(JSON.parse(await body([started(), text(""), finished()])).content).toEqual([]);
});

test.each(["", "{", '{"city":"Par', "null", "[1]", '"x"', "{} {}", "not json"])(
  "input %j reads as {}",
  async (input) => {
    const { content } = JSON.parse(await body([started(), call(0), args(0, input), finished(FinishReason.LENGTH)]));
    expect(content).toEqual([
      { type: "tool_use", id: "call_0", name: "weather", input: {}, caller: { type: "direct" } },
    ]);
  },
);

test("any stream of events, however cut, builds the same answer and usage", async () => {
  await fc.assert(
    fc.asyncProperty(samples, async ({ answer, batches }) => {
      const { content, ...message } = JSON.parse(await body(...batches));
      const ofType = (type: string) => content.filter((block: { type: string }) => block.type === type);
      expect({
        id: message.id,
        model: message.model,
        thinking: ofType("thinking")
          .map((block: { thinking: string }) => block.thinking)
          .join(""),
        text: ofType("text")
          .map((block: { text: string }) => block.text)
          .join(""),
        calls: ofType("tool_use").map(({ type: _, caller, ...made }: { type: string; caller: object }) => {
          expect(caller).toEqual({ type: "direct" });
          return made;
        }),
        stopReason: message.stop_reason,
        inputTokensAtStart: message.usage.input_tokens,
        usage: message.usage,
      }).toEqual(answer);
    }),
    { numRuns: 200 },
  );
});
