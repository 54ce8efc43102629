/** Runs one function at a time. */
export class Turns {
  #running: Promise<void> | undefined;

  /** Set while a function runs. Resolves when it has ended, and never rejects. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  async take<T>(run: () => Promise<T>): Promise<T> {
    while (this.#running !== undefined) {
      await this.#running;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#running = promise;
    try {
      return await run();
    } finally {
      this.#running = undefined;
      resolve();
    }
  }
}
