/** A reproducible sequence of numbers from 0 up to but not including 1 (mulberry32). */
export type Sequence = () => number;

/** The sequence of a seed. */
export function seeded(seed: number): Sequence {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A 32-bit hash of a text, continued from `basis`. */
export function hashText(text: string, basis = 0x811c9dc5): number {
  let hash = basis;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

/** A 32-bit hash of numbers in their order, continued from `basis`. */
export function hashNumbers(numbers: Iterable<number>, basis = 0x811c9dc5): number {
  let hash = basis;
  for (const number of numbers) {
    hash = Math.imul(hash ^ number, 0x01000193);
    hash ^= hash >>> 15;
  }
  return hash >>> 0;
}
