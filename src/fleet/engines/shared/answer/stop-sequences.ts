/**
 * Ends a text before the first stop sequence. The text comes in pieces; a possible beginning of a stop sequence is held
 * back. Each character is looked at once for each sequence, whatever the text and its pieces (Knuth, Morris and Pratt).
 */
export class StopSequences {
  stopped = false;
  readonly #matchers: readonly Matcher[];
  #held = "";

  constructor(sequences: readonly string[]) {
    this.#matchers = sequences.map((sequence) => new Matcher(sequence));
  }

  /** The text that may be shown after the next piece. */
  push(piece: string): string {
    if (this.stopped) {
      return "";
    }
    if (this.#matchers.length === 0) {
      return piece;
    }
    const text = this.#held + piece;
    for (let at = this.#held.length; at < text.length; at++) {
      const matched = this.#step(text.charCodeAt(at));
      if (matched > 0) {
        this.stopped = true;
        this.#held = "";
        return text.slice(0, at + 1 - matched);
      }
    }
    const shown = text.length - this.#matchers.reduce((most, { length }) => Math.max(most, length), 0);
    this.#held = text.slice(shown);
    return text.slice(0, shown);
  }

  /** The held text, once no more comes. */
  end(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }

  /** The length of the longest sequence that ends with this character. 0: none does. */
  #step(code: number): number {
    let longest = 0;
    for (const matcher of this.#matchers) {
      if (matcher.step(code)) {
        longest = Math.max(longest, matcher.length);
      }
    }
    return longest;
  }
}

/** Tracks how much of a text's end is the beginning of a sequence. */
class Matcher {
  /** Characters at the text's end that are the beginning of the sequence. */
  length = 0;
  readonly #sequence: string;
  /** For each beginning of the sequence: the length of the longest shorter beginning that is also its end. */
  readonly #shorter: Int32Array;

  constructor(sequence: string) {
    this.#sequence = sequence;
    this.#shorter = new Int32Array(sequence.length + 1);
    for (let at = 1, length = 0; at < sequence.length; at++) {
      length = this.#extend(length, sequence.charCodeAt(at));
      this.#shorter[at + 1] = length;
    }
  }

  /** Takes a character. Returns true when the sequence ends with it. */
  step(code: number): boolean {
    this.length = this.#extend(this.length, code);
    return this.length === this.#sequence.length;
  }

  #extend(from: number, code: number): number {
    let length = from;
    while (length > 0 && this.#sequence.charCodeAt(length) !== code) {
      length = this.#shorter[length] ?? 0;
    }
    return this.#sequence.charCodeAt(length) === code ? length + 1 : 0;
  }
}
