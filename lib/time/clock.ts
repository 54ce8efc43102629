/** Time, injected so that tests can control it. Nothing else in the core asks the system for the time. */
export interface Clock {
  /** Whole milliseconds since the Unix epoch, for what people and other machines read. May jump. */
  now(): number;
  /** Milliseconds from an arbitrary start, for measuring spans. Never goes back. */
  monotonic(): number;
  /** Calls back once after a span in milliseconds; the returned function cancels it. Does not keep the process alive. */
  after(ms: number, callback: () => void): () => void;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms).unref();
    return () => clearTimeout(timer);
  },
};
