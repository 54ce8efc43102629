import type { Output } from "../engine/output.ts";

/** Writes what output tokens add to a chat answer, in the form of OpenAI's deltas. */
export class DeltaWriter {
  readonly #output: Output;
  readonly #reasoningField: string;
  #call = -1;

  constructor(output: Output, reasoningField: string) {
    this.#output = output;
    this.#reasoningField = reasoningField;
  }

  /** The JSON of the delta for the token at this place; they are asked for in their order. Undefined: it adds nothing. */
  write(at: number): string | undefined {
    const text = JSON.stringify(this.#output.texts[at]);
    switch (this.#output.kinds[at]) {
      case "text":
        return `{"content":${text}}`;
      case "reasoning":
        return `{"${this.#reasoningField}":${text}}`;
      case "call": {
        const { id, name } = this.#output.calls[++this.#call] ?? {};
        const made = `"name":${JSON.stringify(name)},"arguments":""`;
        return `{"tool_calls":[{"index":${this.#call},"id":${JSON.stringify(id)},"type":"function","function":{${made}}}]}`;
      }
      case "arguments":
        return `{"tool_calls":[{"index":${this.#call},"function":{"arguments":${text}}}]}`;
      default:
        return undefined;
    }
  }
}
