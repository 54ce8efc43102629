import type { Call } from "../dialect.ts";

/** All text of one kind, joined. */
export function readText(call: Call, kind: "text" | "reasoning"): string {
  const { kinds, texts } = call.run.output;
  let text = "";
  for (let at = 0; at < kinds.length; at++) {
    if (kinds[at] === kind) {
      text += texts[at];
    }
  }
  return text;
}

/** The tool calls in the form that engines share. Arguments may end early, at a limit. */
export function readCalls(call: Call) {
  const { kinds, texts, calls } = call.run.output;
  const made = calls.map(({ id, name }) => ({ id, type: "function", function: { name, arguments: "" } }));
  let index = -1;
  for (let at = 0; at < kinds.length; at++) {
    if (kinds[at] === "call") {
      index++;
    }
    const current = made[index];
    if (kinds[at] === "arguments" && current !== undefined) {
      current.function.arguments += texts[at];
    }
  }
  return made;
}
