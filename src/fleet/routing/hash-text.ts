/** A 32-bit hash. Another seed gives another hash of the same text. */
export function hashText(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x85ebca6b);
    hash ^= hash >>> 13;
  }
  return hash >>> 0;
}
