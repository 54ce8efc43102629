import { hasLongNumber, parseLongNumbers } from "#lib/text/json/long-numbers.ts";
import type { ToolCallDelta } from "../answer/tool-calls.ts";

type Calls = readonly ToolCallDelta[];

/**
 * Calls whose arguments came as objects, with all digits of their numbers. `data` is the JSON that they came in, and `find` finds
 * them there.
 */
export function exactCalls(calls: Calls, data: string, find: (json: unknown) => Calls): Calls {
  const hasObject = calls.some(
    (call) => typeof call.function?.arguments === "object" && call.function.arguments !== null,
  );
  if (!hasObject || !hasLongNumber(data)) {
    return calls;
  }
  const exact = find(parseLongNumbers(data));
  return calls.map((call, at) => ({ ...call, ...(exact[at]?.function && { function: exact[at].function }) }));
}
