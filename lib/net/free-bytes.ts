/** Less memory is not worth the call that gives it back. */
const leastBytes = 4096;

/** Gives the memory of bytes back at once where they have all of it: a collection comes to it only much later. */
export function freeBytes({ buffer, length }: Buffer): void {
  if (length >= leastBytes && length === buffer.byteLength && buffer instanceof ArrayBuffer) {
    buffer.transfer(0);
  }
}
