/** The text of every token that the load target speaks, so that tokens can be counted on any surface, in any framing. */
export const tokenWord = "zebra";

/** Counts a word in a body that arrives in pieces, also where a piece ends within the word. */
export class WordCounter {
  readonly #word: Buffer;
  #tail = Buffer.alloc(0);

  /** The word must not overlap itself. */
  constructor(word: string) {
    this.#word = Buffer.from(word);
  }

  /** Occurrences that the piece completes. */
  count(piece: Buffer): number {
    const { length } = this.#word;
    let found = 0;
    if (this.#tail.length > 0) {
      found = countIn(Buffer.concat([this.#tail, piece.subarray(0, length - 1)]), this.#word);
    }
    found += countIn(piece, this.#word);
    this.#tail =
      piece.length >= length - 1
        ? Buffer.from(piece.subarray(piece.length - length + 1))
        : Buffer.concat([this.#tail, piece]).subarray(1 - length);
    return found;
  }

  /** Forgets what was seen, for the next body. */
  reset(): void {
    this.#tail = Buffer.alloc(0);
  }
}

function countIn(bytes: Buffer, word: Buffer): number {
  let found = 0;
  for (let at = bytes.indexOf(word); at !== -1; at = bytes.indexOf(word, at + word.length)) {
    found++;
  }
  return found;
}
