/**
 * Does jobs in batches of a limited size: those that come in one turn of the event loop or while an earlier batch runs.
 */
export class Batches<Job, Result> {
  readonly #most: number;
  readonly #run: (jobs: readonly Job[]) => Promise<readonly Result[]>;
  #waiting: { readonly job: Job; resolve(result: Result): void; reject(error: unknown): void }[] = [];
  #working = false;

  /** `run` does a batch and returns the results in the order of the jobs. */
  constructor(most: number, run: (jobs: readonly Job[]) => Promise<readonly Result[]>) {
    this.#most = most;
    this.#run = run;
  }

  /** Rejects when the job's batch fails. */
  add(job: Job): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      if (!this.#working) {
        this.#working = true;
        void this.#work();
      }
    });
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      await nextTurn();
      const batch = this.#waiting.splice(0, this.#most);
      try {
        const results = await this.#run(batch.map(({ job }) => job));
        for (const [at, { resolve }] of batch.entries()) {
          resolve(results[at] as Result);
        }
      } catch (error) {
        for (const { reject } of batch) {
          reject(error);
        }
      }
    }
    this.#working = false;
  }
}

/** Lets everything else that waits for the event loop run first. Work on SQLite alone never yields to it. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
