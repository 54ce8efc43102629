import { seeded } from "./text/random.ts";
import { vocabularySize } from "./text/tokenizer.ts";

// The directions of recent tokens: computing one costs far more than adding it.
const directions = new Map<number, Float32Array>();
const remembered = 2048;

/**
 * A vector of unit length for a text's tokens, of which there is at least one. It is the sum of a fixed random
 * direction for each token, weighted slightly by the token's position. Texts that share words are similar; equal texts
 * are equal.
 */
export function embedTokens(tokens: readonly number[], dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions);
  for (const [at, token] of tokens.entries()) {
    add(sum, direction(token, dimensions), 1 + ((at * 0.618) % 1) * 0.2);
  }
  let square = 0;
  for (const value of sum) {
    square += value * value;
  }
  const scale = 1 / Math.sqrt(square);
  return sum.map((value) => value * scale);
}

function add(sum: Float32Array, addend: Float32Array, weight: number): void {
  for (let at = 0; at < sum.length; at++) {
    sum[at] = (sum[at] ?? 0) + (addend[at] ?? 0) * weight;
  }
}

function direction(token: number, dimensions: number): Float32Array {
  const key = dimensions * vocabularySize + token;
  const known = directions.get(key);
  if (known !== undefined) {
    return known;
  }
  const random = seeded(token);
  const made = Float32Array.from({ length: dimensions }, () => random() - 0.5);
  if (directions.size >= remembered) {
    directions.clear();
  }
  directions.set(key, made);
  return made;
}
