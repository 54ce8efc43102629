/**
 * The most bytes that a tokenizer can see of a text, and so the most tokens that it can make: some
 * tokenizers normalise first, which lets a few characters grow (U+FDFA becomes eighteen).
 */
export function byteBound(text: string): number {
  const bytes = Buffer.byteLength(text);
  if (bytes === text.length) {
    return bytes; // ASCII stays as it is
  }
  return Math.max(bytes, Buffer.byteLength(text.normalize("NFKC")));
}
