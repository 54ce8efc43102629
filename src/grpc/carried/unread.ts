import { creditBytes, creditMessages } from "./limits.ts";

/**
 * The messages of a call's answer that its caller has not reported as read. Both sides count them. The core's number is
 * never lower than the caller's, whose report is on its way.
 */
export class Unread {
  /** Lengths in bytes, the oldest message first. */
  readonly #lengths: number[] = [];
  #bytes = 0;

  /** Whether there is no room for another message of any length. */
  get isFull(): boolean {
    return this.#lengths.length >= creditMessages || this.#bytes >= creditBytes;
  }

  /** Counts a message of this many bytes. */
  add(bytes: number): void {
    this.#lengths.push(bytes);
    this.#bytes += bytes;
  }

  /** Removes the oldest messages as read. A number beyond the unread ones removes all. */
  remove(messages: number): void {
    const gone = Math.min(messages, this.#lengths.length);
    for (const bytes of this.#lengths.splice(0, gone)) {
      this.#bytes -= bytes;
    }
  }
}
