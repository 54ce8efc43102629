/** The part of a text in which two texts differ. */
const tail = 0.25;

/** 1 − cosine of two vectors of one text: far below what a quarter of other words makes, above the noise of floats. */
const noise = 1e-5;

/**
 * Whether a server cuts inputs that are not too long, and says nothing: it makes one vector of two texts of so many words
 * that differ at their end. A failure says nothing about that and is passed on.
 */
export async function cutsInputs(
  embed: (input: string) => Promise<{ readonly vectors: readonly Float32Array[] }>,
  words: number,
): Promise<boolean> {
  const last = Math.ceil(words * tail);
  const text = (word: string) => [...Array(words - last).fill("word"), ...Array(last).fill(word)].join(" ");
  const [one] = (await embed(text("word"))).vectors;
  const [other] = (await embed(text("mark"))).vectors;
  return one !== undefined && other !== undefined && 1 - cosine(one, other) < noise;
}

function cosine(one: Float32Array, other: Float32Array): number {
  let [product, ones, others] = [0, 0, 0];
  for (const [index, value] of one.entries()) {
    const against = other[index] ?? 0;
    product += value * against;
    ones += value * value;
    others += against * against;
  }
  return product / Math.sqrt(ones * others);
}
