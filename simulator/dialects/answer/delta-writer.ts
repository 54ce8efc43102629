import type { Output } from "../../engine/output.ts";

/** Writes the part of a chat answer that each output token adds, in the form of OpenAI's deltas. */
export class DeltaWriter {
  readonly #output: Output;
  readonly #reasoningField: string;
  #call = -1;

  constructor(output: Output, reasoningField: string) {
    this.#output = output;
    this.#reasoningField = reasoningField;
  }

  /**
   * The delta for the token at this index, as JSON. Call it for each token in order. Undefined: the token adds nothing.
   */
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
