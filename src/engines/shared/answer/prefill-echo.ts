import type { EngineRequest } from "../../interface.ts";
import { continuesText } from "../prompt/turns.ts";

/** Facts of an engine's builds: some repeat the beginning of an answer that the caller wrote. */
export interface EchoTraits {
  /** Whether this one was seen to. Undefined: it was not seen yet. Absent on engines that never do. */
  repeatsPrefill: boolean | undefined;
}

/** A beginning so long is not written anew by chance. */
const telling = 16;

/**
 * Takes the caller's beginning off an answer that repeats it. llama-server did so for a year, and sends it at once,
 * with the first token; later builds and older ones do not. One a request.
 */
export class PrefillEcho {
  readonly #prefill: string;
  readonly #traits: EchoTraits;

  constructor(prefill: string, traits: EchoTraits) {
    this.#prefill = prefill;
    this.#traits = traits;
  }

  /** The first text of the answer without the beginning. */
  strip(first: string): string {
    if (!first.startsWith(this.#prefill)) {
      this.#traits.repeatsPrefill = false;
      return first;
    }
    if (this.#prefill.length >= telling) {
      this.#traits.repeatsPrefill = true;
    }
    // A short match may be the model's own word, where the engine was seen not to repeat.
    return this.#traits.repeatsPrefill === false ? first : first.slice(this.#prefill.length);
  }
}

/** The filter that takes the beginning off a request's answer. Undefined: the caller wrote none. */
export function echoFor({ prompt }: Pick<EngineRequest, "prompt">, traits: EchoTraits): PrefillEcho | undefined {
  if (prompt.case !== "conversation" || !continuesText(prompt)) {
    return undefined;
  }
  return new PrefillEcho(prompt.value.messages.at(-1)?.text ?? "", traits);
}
