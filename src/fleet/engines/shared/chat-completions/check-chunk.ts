import { checkCall } from "../answer/check-call.ts";
import { checkList, checkObject, checkText, isAbsent } from "../answer/check-type.ts";
import type { Chunk } from "./chunk.ts";

/** Checks the types of a parsed chunk's parts. Throws a TypeError that names the part. */
export function checkChunk(value: unknown): Chunk {
  const { choices, usage } = checkObject("chunk", value);
  if (!isAbsent(usage)) {
    checkObject("usage", usage);
  }
  if (isAbsent(choices)) {
    return value as Chunk;
  }
  const list = checkList("choices", choices);
  if (list.length > 0) {
    checkChoice(checkObject("choice", list[0]));
  }
  return value as Chunk;
}

function checkChoice({ delta, text, finish_reason }: Record<string, unknown>): void {
  checkText("text", text);
  checkText("finish_reason", finish_reason);
  if (isAbsent(delta)) {
    return;
  }
  const { content, reasoning, reasoning_content, tool_calls, function_call } = checkObject("delta", delta);
  checkText("content", content);
  checkText("reasoning", reasoning);
  checkText("reasoning_content", reasoning_content);
  if (!isAbsent(tool_calls)) {
    for (const call of checkList("tool_calls", tool_calls)) {
      checkCall(call);
    }
  }
  if (!isAbsent(function_call)) {
    checkCall({ function: function_call });
  }
}
