import type { Logger } from "#lib/logger.ts";

/** Slices that this core no longer spends, kept until the store has closed them. */
export class EndedSlices {
  readonly #ids = new Set<string>();
  readonly #close: (ids: readonly string[]) => Promise<void>;
  readonly #logger: Logger;

  /** `close` has the store close slices, and ignores slices that are closed already. */
  constructor(close: (ids: readonly string[]) => Promise<void>, logger: Logger) {
    this.#close = close;
    this.#logger = logger;
  }

  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  add(ids: Iterable<string>): void {
    for (const id of ids) {
      this.#ids.add(id);
    }
  }

  /** Closes all slices. Rejects when the store fails; the next call then closes them. */
  async close(): Promise<void> {
    if (this.#ids.size === 0) {
      return;
    }
    const ids = [...this.#ids];
    await this.#close(ids);
    for (const id of ids) {
      this.#ids.delete(id);
    }
  }

  /** Adds slices and closes them, now or as soon as the store can be reached. Never rejects. */
  async closeSoon(ids: Iterable<string>): Promise<void> {
    this.add(ids);
    await this.close().catch((error: unknown) => this.#logger.warn({ error }, "slices could not be closed yet"));
  }
}
