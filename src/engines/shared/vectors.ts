/** A vector as a list of numbers. Undefined: it is none. */
export function vectorIn(value: unknown): Float32Array | undefined {
  if (!Array.isArray(value) || value.some((one) => typeof one !== "number")) {
    return undefined;
  }
  return Float32Array.from(value);
}

/** The vectors of a list, one an input. Undefined: there are more or fewer, or one is no list of numbers. */
export function vectorsIn(value: unknown, inputs: number): Float32Array[] | undefined {
  const listed = Array.isArray(value) && value.length === inputs ? value : [];
  const vectors = listed.map(vectorIn).filter((vector) => vector !== undefined);
  return vectors.length === inputs ? vectors : undefined;
}
