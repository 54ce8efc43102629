/**
 * The most bytes that a tokenizer can see of a text, and so the most tokens that it can make. Some tokenizers normalise
 * first, which makes a few characters longer (U+FDFA becomes eighteen).
 */
export function byteBound(text: string): number {
  const bytes = Buffer.byteLength(text);
  if (bytes === text.length) {
    return bytes; // ASCII stays as it is
  }
  return Math.max(bytes, Buffer.byteLength(text.normalize("NFKC")));
}
