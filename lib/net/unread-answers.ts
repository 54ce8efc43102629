import type { Clock } from "../time/clock.ts";

/** An answer that its client has not read to the end. */
export interface UnreadAnswer {
  /** The client that the answer counts for. When memory is short, the owner that holds most is cut off first. */
  readonly owner: string;
  /** The memory that it takes until its end, in bytes. */
  readonly bytes: number;
  /** Whether its client has taken too little of it, this many milliseconds after it was added. */
  isLate(ageMs: number): boolean;
  /** Cuts the client off. */
  giveUp(): void;
}

/** The interval between two checks, in milliseconds. */
const intervalMs = 1000;

/**
 * Bounds the memory and time of answers that wait for slow readers. Only answers that the kernel did not take at once
 * are watched. One timer checks all answers, and rests while there are none.
 */
export class UnreadAnswers {
  readonly #mostBytes: number;
  readonly #clock: Clock;
  readonly #onGivenUp: () => void;
  /** When each answer was added, by the monotonic clock; oldest first. */
  readonly #since = new Map<UnreadAnswer, number>();
  readonly #byOwner = new Map<string, number>();
  #bytes = 0;
  #isLooking = false;

  /** `mostBytes`: the bound for all answers together. */
  constructor(mostBytes: number, clock: Clock, onGivenUp: () => void = () => {}) {
    this.#mostBytes = mostBytes;
    this.#clock = clock;
    this.#onGivenUp = onGivenUp;
  }

  /** Bytes of all waiting answers. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Watches an answer until it is deleted. When memory is short, the oldest answers of the owner that holds most are
   * given up.
   */
  add(answer: UnreadAnswer): void {
    this.#since.set(answer, this.#clock.monotonic());
    this.#count(answer.owner, answer.bytes);
    while (this.#bytes > this.#mostBytes && this.#since.size > 1) {
      this.#giveUp(this.#oldestOf(this.#largestOwner()) ?? answer);
    }
    this.#lookLater();
  }

  /** The client has read it, or is gone. */
  delete(answer: UnreadAnswer): void {
    if (this.#since.delete(answer)) {
      this.#count(answer.owner, -answer.bytes);
    }
  }

  #count(owner: string, bytes: number): void {
    this.#bytes += bytes;
    const held = (this.#byOwner.get(owner) ?? 0) + bytes;
    if (held === 0) {
      this.#byOwner.delete(owner);
    } else {
      this.#byOwner.set(owner, held);
    }
  }

  #largestOwner(): string {
    let [largest, most] = ["", -1];
    for (const [owner, bytes] of this.#byOwner) {
      if (bytes > most) {
        [largest, most] = [owner, bytes];
      }
    }
    return largest;
  }

  #oldestOf(owner: string): UnreadAnswer | undefined {
    for (const answer of this.#since.keys()) {
      if (answer.owner === owner) {
        return answer;
      }
    }
    return undefined;
  }

  #lookLater(): void {
    if (this.#isLooking || this.#since.size === 0) {
      return;
    }
    this.#isLooking = true;
    this.#clock.after(intervalMs, () => {
      this.#isLooking = false;
      const now = this.#clock.monotonic();
      for (const [answer, since] of this.#since) {
        if (answer.isLate(now - since)) {
          this.#giveUp(answer);
        }
      }
      this.#lookLater();
    });
  }

  #giveUp(answer: UnreadAnswer): void {
    this.delete(answer);
    this.#onGivenUp();
    answer.giveUp();
  }
}
