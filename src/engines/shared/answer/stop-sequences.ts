/**
 * Ends a text before the first of some stop sequences. The text comes in pieces; what might be the
 * beginning of a stop sequence is held back.
 */
export class StopSequences {
  stopped = false;
  readonly #sequences: readonly string[];
  #held = "";

  constructor(sequences: readonly string[]) {
    this.#sequences = sequences;
  }

  /** What may be shown after the next piece. */
  push(piece: string): string {
    if (this.stopped) return "";
    const text = this.#held + piece;
    const found = this.#sequences.map((sequence) => text.indexOf(sequence)).filter((at) => at !== -1);
    if (found.length > 0) {
      this.stopped = true;
      this.#held = "";
      return text.slice(0, Math.min(...found));
    }
    const shown = text.length - Math.max(0, ...this.#sequences.map((sequence) => partialLength(text, sequence)));
    this.#held = text.slice(shown);
    return text.slice(0, shown);
  }

  /** What was held back, when no more comes. */
  end(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }
}

/** How many characters at the end are the beginning of the sequence. */
function partialLength(text: string, sequence: string): number {
  for (let length = Math.min(text.length, sequence.length - 1); length > 0; length--) {
    if (text.endsWith(sequence.slice(0, length))) return length;
  }
  return 0;
}
