/** A vector from a list of numbers. Undefined: the value is not one. */
export function vectorIn(value: unknown): Float32Array | undefined {
  if (!Array.isArray(value) || value.some((one) => typeof one !== "number")) {
    return undefined;
  }
  return Float32Array.from(value);
}

/** The vectors of a list, one for each input. Undefined: their number is wrong, or one is not a list of numbers. */
export function vectorsIn(value: unknown, inputs: number): Float32Array[] | undefined {
  const listed = Array.isArray(value) && value.length === inputs ? value : [];
  const vectors = listed.map(vectorIn).filter((vector) => vector !== undefined);
  return vectors.length === inputs ? vectors : undefined;
}
