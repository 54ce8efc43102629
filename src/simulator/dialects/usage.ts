import type { Call } from "./dialect.ts";

/** Token counts as they are told; a fault may have made them wrong. */
export interface Counts {
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
}

/** The counts after so many output tokens. Undefined: a fault keeps them back. */
export function countsOf(call: Call, produced: number): Counts | undefined {
  const { sequence } = call.run;
  const prompt = sequence.work.prompt.length;
  const cached = sequence.cached ?? 0;
  switch (call.fault.usage) {
    case undefined:
      return { prompt, completion: produced, cached };
    case "missing":
      return undefined;
    case "zero":
      return { prompt: 0, completion: 0, cached: 0 };
    case "double":
      return { prompt, completion: produced * 2, cached };
  }
}

/** Reasoning tokens among the first so many output tokens. */
export function reasoningTokens(call: Call, produced: number): number {
  const { kinds } = call.run.output;
  let count = 0;
  for (let at = 0; at < produced; at++) if (kinds[at] === "reasoning") count++;
  return count;
}

/** All that the reader gets of one kind, joined. */
export function textOf(call: Call, kind: "text" | "reasoning"): string {
  const { kinds, texts } = call.run.output;
  let text = "";
  for (let at = 0; at < kinds.length; at++) if (kinds[at] === kind) text += texts[at];
  return text;
}

/** The calls with the arguments that the output really got to, which a limit may have cut. */
export function callsOf(call: Call): { id: string; name: string; arguments: string }[] {
  const { kinds, texts, calls } = call.run.output;
  const made = calls.map(({ id, name }) => ({ id, name, arguments: "" }));
  let index = -1;
  for (let at = 0; at < kinds.length; at++) {
    if (kinds[at] === "call") index++;
    const current = made[index];
    if (kinds[at] === "arguments" && current !== undefined) current.arguments += texts[at];
  }
  return made;
}
