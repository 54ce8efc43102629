import { checkObject, checkText, isAbsent } from "./check-type.ts";
import type { ToolCallDelta } from "./tool-calls.ts";

/** Checks the types of a tool call, or of a piece of one. Throws a TypeError. */
export function checkCall(value: unknown): ToolCallDelta {
  const { index, id, function: called } = checkObject("tool call", value);
  if (!isAbsent(index) && !(Number.isInteger(index) && Number(index) >= 0)) {
    throw new TypeError("index is no number");
  }
  checkText("id", id);
  if (isAbsent(called)) {
    return value as ToolCallDelta;
  }
  const { name, arguments: given } = checkObject("function", called);
  checkText("name", name);
  if (typeof given !== "object") {
    checkText("arguments", given);
  }
  return value as ToolCallDelta;
}
