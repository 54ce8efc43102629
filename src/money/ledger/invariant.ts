/** Money broke an invariant: a fault of this program, never of a caller. */
export class BrokenInvariant extends Error {
  override readonly name = "BrokenInvariant";
}

/** Checks, in every build, a condition that must hold wherever money moves; the sentence states it. Throws BrokenInvariant. */
export function invariant(condition: boolean, sentence: string): asserts condition {
  if (!condition) {
    throw new BrokenInvariant(sentence);
  }
}
