/** Lets a few jobs run at a time; the others wait for their turns, first come, first served. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Runs a job when it is its turn. */
  async use<T>(job: () => Promise<T>): Promise<T> {
    if (this.#free > 0) {
      this.#free -= 1;
    } else {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    try {
      return await job();
    } finally {
      const next = this.#waiting.shift();
      if (next) {
        next();
      } else {
        this.#free += 1;
      }
    }
  }
}
