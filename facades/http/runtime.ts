/** Time, injected so that tests can turn it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds from an arbitrary start, for measuring spans. Never goes back. */
  monotonic(): number;
  /** Calls back once after a span in milliseconds; the returned function cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** What a surface needs from its surroundings. */
export interface Runtime {
  readonly clock: Clock;
  readonly random: {
    /** A new identifier that sorts by its time of making: UUIDv7. */
    uuid(): string;
  };
  readonly logger: {
    /** Never a prompt, an answer or a key. */
    error(fields: object, message: string): void;
  };
}
