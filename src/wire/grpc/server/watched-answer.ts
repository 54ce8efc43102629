import type { UnreadAnswer } from "#lib/net/unread-answers.ts";
import type { AnswerStream } from "../workarounds/server-call.ts";

/** Milliseconds after which a client that takes nothing of its waiting answer is given up. */
const patienceMs = 60_000;
/** A unary answer gets one more millisecond for each of this many bytes. */
const leastPace = 256;

/** The answer of a gRPC call, from its first message until its stream is closed. */
export class WatchedAnswer implements UnreadAnswer {
  readonly owner: string;
  readonly bytes: number;
  readonly #stream: AnswerStream;
  /** Messages that were written, and how many of them the client has taken or has room for. */
  #written = 1;
  #taken = 0;
  #isEnded = false;
  #seen = 0;
  #seenAt = 0;

  /** `bytes` is the size of a unary answer. 0 for a stream, whose messages are written one after the other. */
  constructor(owner: string, bytes: number, stream: AnswerStream) {
    this.owner = owner;
    this.bytes = bytes;
    this.#stream = stream;
  }

  /** One more message was written. */
  wrote(): void {
    this.#written++;
  }

  /** The client has room for one more message. */
  took(): void {
    this.#taken++;
  }

  /** Nothing more comes. */
  end(): void {
    this.#isEnded = true;
  }

  isLate(ageMs: number): boolean {
    const waits = this.#isEnded || this.#taken < this.#written;
    if (!waits || this.#taken > this.#seen) {
      this.#seen = this.#taken;
      this.#seenAt = ageMs;
      return false;
    }
    return ageMs - this.#seenAt >= patienceMs + this.bytes / leastPace;
  }

  giveUp(): void {
    this.#stream.cutOff();
  }
}
