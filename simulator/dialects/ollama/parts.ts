import type { Output } from "../../engine/output.ts";
import { special } from "../../engine/text/tokenizer.ts";
import { readCalls } from "../answer/texts.ts";
import type { Call } from "../dialect.ts";

/** The piece of an Ollama answer that an output token adds. A tool call is sent only when it is complete. */
export interface Part {
  readonly content: string;
  readonly thinking: string;
  /** The index of the call that this token completes. */
  readonly call: number | undefined;
}

/** Splits an output into parts, read in order. */
export class PartReader {
  readonly #output: Output;
  #calls = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  /** The part of the token at this index. Undefined: the token adds nothing. */
  read(at: number): Part | undefined {
    const { ids, kinds, texts } = this.#output;
    const text = texts[at] ?? "";
    switch (kinds[at]) {
      case "text":
        return { content: text, thinking: "", call: undefined };
      case "reasoning":
        return { content: "", thinking: text, call: undefined };
      case "silent":
        return ids[at] === special.callEnd ? { content: "", thinking: "", call: this.#calls++ } : undefined;
      default:
        return undefined;
    }
  }
}

/** The calls that the output completes. A call that a limit has cut is left out. */
export function completeCalls(call: Call) {
  const whole = call.run.output.ids.filter((id) => id === special.callEnd).length;
  return readCalls(call).slice(0, whole);
}
