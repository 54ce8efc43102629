/** How far a length may be from 1 to count as 1; the rounding of float32 stays far below. */
const tolerance = 1e-3;

/** The vector with unit length. Undefined: it has another number of dimensions, or no length. */
export function unitVector(vector: Float32Array, dimensions: number): Float32Array | undefined {
  if (vector.length !== dimensions) {
    return undefined;
  }
  let squares = 0;
  for (const value of vector) {
    squares += value * value;
  }
  const length = Math.sqrt(squares);
  if (!(length > 0) || !Number.isFinite(length)) {
    return undefined;
  }
  return Math.abs(length - 1) < tolerance ? vector : vector.map((value) => value / length);
}
