import { parseLongNumbers } from "#lib/text/json/long-numbers.ts";
import { invalidField, type RequestError } from "../request/error.ts";

/** The most levels of nested messages. */
const maxDepth = 64;

/** A decoder's position in the caller's body, such as messages[0].content. Formatted only for an error. */
export class JsonPath {
  readonly #steps: (string | number)[] = [];
  readonly #body: string | undefined;
  #exact: unknown;

  /** `body` is what was parsed. Absent: the values were never JSON text. */
  constructor(body?: string) {
    this.#body = body;
  }

  push(step: string | number): void {
    this.#steps.push(step);
    if (this.#steps.length > maxDepth) {
      throw this.error(`must not be nested deeper than ${maxDepth} levels`);
    }
  }

  pop(): void {
    this.#steps.pop();
  }

  /** The value at this position, with numbers that `JSON.stringify` writes as they are in the body. Undefined: there is none. */
  exactValue(): unknown {
    if (this.#body === undefined) {
      return undefined;
    }
    this.#exact ??= parseLongNumbers(this.#body);
    return this.#steps.reduce((value, step) => (value as Record<string | number, unknown>)[step], this.#exact);
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
