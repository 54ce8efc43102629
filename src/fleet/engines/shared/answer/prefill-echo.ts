import type { EngineRequest } from "../../interface.ts";
import { continuesText } from "../prompt/turns.ts";

/** Facts about an engine's build: some builds repeat the beginning of an answer that the caller wrote. */
export interface EchoTraits {
  /** Whether this build repeats it. Undefined: not observed yet. Absent on engines that never do. */
  repeatsPrefill: boolean | undefined;
}

/** Characters from which on a repeated beginning is not a coincidence. */
const telling = 16;

/**
 * Removes the caller's beginning from an answer that repeats it. For a year llama-server did so, and sent it at once
 * with the first token; older and newer builds do not. One for each request.
 */
export class PrefillEcho {
  readonly #prefill: string;
  readonly #traits: EchoTraits;

  constructor(prefill: string, traits: EchoTraits) {
    this.#prefill = prefill;
    this.#traits = traits;
  }

  /** The answer's first text, without the caller's beginning. */
  strip(first: string): string {
    if (!first.startsWith(this.#prefill)) {
      this.#traits.repeatsPrefill = false;
      return first;
    }
    if (this.#prefill.length >= telling) {
      this.#traits.repeatsPrefill = true;
    }
    // A short match may be the model's own words, on an engine that was seen not to repeat.
    return this.#traits.repeatsPrefill === false ? first : first.slice(this.#prefill.length);
  }
}

/** The filter that removes the caller's beginning from a request's answer. Undefined: the caller wrote none. */
export function echoFor({ prompt }: Pick<EngineRequest, "prompt">, traits: EchoTraits): PrefillEcho | undefined {
  if (prompt.case !== "conversation" || !continuesText(prompt)) {
    return undefined;
  }
  return new PrefillEcho(prompt.value.messages.at(-1)?.text ?? "", traits);
}
