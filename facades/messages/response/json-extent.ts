/** Follows JSON text that comes in pieces and tells when its outermost object or array has closed. */
export class JsonExtent {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #complete = false;

  /** Whether the value is whole. Stays false for text that never closes. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Takes the next piece. Whatever follows the whole value is ignored. */
  push(piece: string): void {
    for (let i = 0; i < piece.length && !this.#complete; i++) this.#step(piece.charCodeAt(i));
  }

  #step(char: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (this.#inString) {
      if (char === BACKSLASH) this.#escaped = true;
      else if (char === QUOTE) this.#inString = false;
    } else if (char === QUOTE) this.#inString = true;
    else if (char === BRACE_OPEN || char === BRACKET_OPEN) this.#depth++;
    else if (char === BRACE_CLOSE || char === BRACKET_CLOSE) this.#complete = --this.#depth <= 0;
  }
}

const QUOTE = 0x22;
const BRACKET_OPEN = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_CLOSE = 0x5d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
