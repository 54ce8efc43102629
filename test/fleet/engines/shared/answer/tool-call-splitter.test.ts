import { describe, expect, test } from "@jest/globals";
import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { ToolCallSplitter } from "#src/fleet/engines/shared/answer/tool-call-splitter.ts";
import { ToolCalls } from "#src/fleet/engines/shared/answer/tool-calls.ts";
import { join } from "../../collect.ts";

function split(text: string, size: number, inside = false) {
  const events: GenerationEvent[] = [];
  const splitter = new ToolCallSplitter(new ToolCalls("run-1"), inside);
  for (let at = 0; at < text.length; at += size) {
    splitter.push(text.slice(at, at + size), events);
  }
  splitter.end(events);
  const { text: shown, calls } = join(events);
  return { text: shown, calls: calls.map(({ name, arguments: args }) => [name, args]) };
}

const block = (json: string) => `<tool_call>\n${json}\n</tool_call>`;
const call = block('{"name": "weather", "arguments": {"city": "Oslo <b>"}}');
const oslo = ["weather", '{"city":"Oslo <b>"}'];

describe.each([1, 3, 1000])("in pieces of %d", (size) => {
  test.each<[string, string, string, string[][]]>([
    ["text alone", "a < b and <tool> is no call", "a < b and <tool> is no call", []],
    ["a call alone", call, "", [oslo]],
    ["text before a call", `Let me see. ${call}`, "Let me see. ", [oslo]],
    ["calls with white space around", `${call}\n\n${call}\n`, "", [oslo, oslo]],
    ["text after a call", `${call} Done. `, "Done. ", [oslo]],
    ["parameters for arguments", block('{"name":"f","parameters":{"a":1}}'), "", [["f", '{"a":1}']]],
    ["arguments as text", block('{"name":"f","arguments":"{\\"a\\":1}"}'), "", [["f", '{"a":1}']]],
    [
      "numbers that no double holds",
      block('{"name":"f","arguments":{"id":12345678901234567890,"x":1e400,"y":[1.0]}}'),
      "",
      [["f", '{"id":12345678901234567890,"x":1e400,"y":[1.0]}']],
    ],
    ["no arguments", block('{"name":"f"}'), "", [["f", "{}"]]],
    ["what is no JSON", "<tool_call>weather</tool_call>", "<tool_call>weather</tool_call>", []],
    ["JSON without a name", "<tool_call>[1]</tool_call>", "<tool_call>[1]</tool_call>", []],
    ["a call that is cut off", '<tool_call>{"name": "f", "arguments": {"a": "b', "", [["f", '{"a": "b']]],
    ["a call cut off in its name", '<tool_call>{"name": "we', '<tool_call>{"name": "we', []],
    ["the beginning of a tag at the end", "a <tool", "a <tool", []],
  ])("%s", (_, text, shown, calls) => {
    expect(split(text, size)).toEqual({ text: shown, calls });
  });

  test("a block that the prompt has opened", () => {
    expect(split('{"name":"f","arguments":{}}', size, true)).toEqual({ text: "", calls: [["f", "{}"]] });
  });
});
