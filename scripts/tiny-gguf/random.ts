/** Numbers from -1 to 1 that look random and are the same every time: a linear congruential generator. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (1664525 * state + 1013904223) >>> 0;
    return (state / 2 ** 32) * 2 - 1;
  };
}
