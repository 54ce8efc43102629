/** Detects in JSON text that comes in pieces when the outermost object or array has closed. */
export class JsonExtent {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #complete = false;

  /** Whether the value is complete. Stays false for text that never closes. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Takes the next piece. Anything after the complete value is ignored. */
  push(piece: string): void {
    for (let i = 0; i < piece.length && !this.#complete; i++) {
      this.#step(piece.charCodeAt(i));
    }
  }

  #step(char: number): void {
    if (this.#escaped) {
      this.#escaped = false;
    } else if (this.#inString) {
      if (char === backslash) {
        this.#escaped = true;
      } else if (char === quote) {
        this.#inString = false;
      }
    } else if (char === quote) {
      this.#inString = true;
    } else if (char === braceOpen || char === bracketOpen) {
      this.#depth++;
    } else if (char === braceClose || char === bracketClose) {
      this.#complete = --this.#depth <= 0;
    }
  }
}

const quote = 0x22;
const bracketOpen = 0x5b;
const backslash = 0x5c;
const bracketClose = 0x5d;
const braceOpen = 0x7b;
const braceClose = 0x7d;
