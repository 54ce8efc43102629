import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";

const flushMs = 60_000;
/** Keys whose times agree this closely are written together. */
const precisionMs = 10_000;

/** Stores that keys were last used at about this time. */
export type StoreLastUsed = (keyIds: readonly string[], at: Date) => Promise<void>;

/** Notes when keys are used, and stores that once a minute. */
export class LastUsed {
  readonly #store: StoreLastUsed;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #times = new Map<string, number>();
  #cancelFlush: (() => void) | undefined;

  constructor(store: StoreLastUsed, clock: Clock, logger: Logger) {
    this.#store = store;
    this.#clock = clock;
    this.#logger = logger;
  }

  note(keyId: string): void {
    this.#times.set(keyId, this.#clock.now());
    this.#cancelFlush ??= this.#clock.after(flushMs, () => void this.flush());
  }

  /** Stores the notes since the last flush. Times that cannot be stored are dropped: they only inform. */
  async flush(): Promise<void> {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    const times = this.#times;
    this.#times = new Map();
    const rounded = (at: number) => Math.floor(at / precisionMs) * precisionMs;
    try {
      for (const [at, used] of Map.groupBy(times, ([, at]) => rounded(at))) {
        await this.#store(
          used.map(([keyId]) => keyId),
          new Date(at),
        );
      }
    } catch (error) {
      this.#logger.warn({ error: String(error) }, "the last use of keys was not written");
    }
  }
}
