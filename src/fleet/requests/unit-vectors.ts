/** How far a length may be from 1 and still count as 1. The rounding of float32 stays far below. */
const tolerance = 1e-3;

/** The vector scaled to length 1. Undefined: its number of dimensions is wrong, or its length is zero. */
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
