import { expect, test } from "@jest/globals";
import { toParam } from "../../../facades/chat/param.ts";

test.each([
  ["", ""],
  ["model", "model"],
  ["conversation", "messages"],
  ["conversation.messages", "messages"],
  ["conversation.messages[12].text", "messages[12].content"],
  ["conversation.messages[0].tool_call_id", "messages[0].tool_call_id"],
  ["conversation.messages[0].role", "messages[0].role"],
  ["conversation.tools[2].name", "tools[2].function.name"],
  ["conversation.tools[2].parameters_json", "tools[2].function.parameters"],
  ["conversation.tool_choice", "tool_choice"],
  ["conversation.tool_choice.name", "tool_choice.function.name"],
  ["text", "prompt"],
  ["max_output_tokens", "max_tokens"],
  ["sampling.top_p", "top_p"],
  ["stop_sequences[1]", "stop"],
  ["inputs[3]", "input"],
])("%s is %s", (parameter, param) => {
  expect(toParam(parameter)).toBe(param);
});
