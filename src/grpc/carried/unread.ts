import { creditBytes, creditMessages } from "./limits.ts";

/**
 * The messages of a call's answer that its caller has not told of as read. Both sides count them; the core never has fewer of them
 * than the caller, whose word is on its way.
 */
export class Unread {
  /** In bytes, the oldest first. */
  readonly #lengths: number[] = [];
  #bytes = 0;

  /** Whether there is no room for another message, of whatever length. */
  get isFull(): boolean {
    return this.#lengths.length >= creditMessages || this.#bytes >= creditBytes;
  }

  /** Counts a message of so many bytes. */
  add(bytes: number): void {
    this.#lengths.push(bytes);
    this.#bytes += bytes;
  }

  /** So many of the oldest ones have been read; of a number beyond, all. */
  remove(messages: number): void {
    const gone = Math.min(messages, this.#lengths.length);
    for (const bytes of this.#lengths.splice(0, gone)) {
      this.#bytes -= bytes;
    }
  }
}
