import { invalidField, type RequestError } from "../request/error.ts";

/** The most levels of nested messages. */
const maxDepth = 64;

/** A decoder's position in the caller's body, such as messages[0].content. Formatted only for an error. */
export class JsonPath {
  readonly #steps: (string | number)[] = [];

  push(step: string | number): void {
    this.#steps.push(step);
    if (this.#steps.length > maxDepth) {
      throw this.error(`must not be nested deeper than ${maxDepth} levels`);
    }
  }

  pop(): void {
    this.#steps.pop();
  }

  /** An error at this position. */
  error(reason: string): RequestError {
    return invalidField(this.toString(), reason);
  }

  toString(): string {
    let text = "";
    for (const step of this.#steps) {
      if (typeof step === "number") {
        text += `[${step}]`;
      } else {
        text += text === "" ? step : `.${step}`;
      }
    }
    return text;
  }
}
