/**
 * Detects the end of a JSON object or array that comes in pieces. Looks at each character once. In broken JSON it only
 * follows strings and brackets.
 */
export class JsonEnd {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #began = false;

  /** Whether the first object or array has ended. */
  get reached(): boolean {
    return this.#began && this.#depth === 0;
  }

  push(piece: string): void {
    for (let at = 0; at < piece.length; at++) {
      this.#take(piece[at] as string);
    }
  }

  #take(character: string): void {
    if (this.#inString) {
      if (this.#escaped) {
        this.#escaped = false;
      } else if (character === "\\") {
        this.#escaped = true;
      } else if (character === '"') {
        this.#inString = false;
      }
      return;
    }
    if (character === '"') {
      this.#inString = true;
    } else if (character === "{" || character === "[") {
      this.#began = true;
      this.#depth++;
    } else if (character === "}" || character === "]") {
      this.#depth = Math.max(0, this.#depth - 1);
    }
  }
}
