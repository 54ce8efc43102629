/** Of so many ids, whose order tells roughly where their middle is. */
const sampleSize = 101;

/**
 * Stored sums, less what has been found of the rows that they sum up: nothing is left once all rows were found. It holds
 * so many ids at most: of more it keeps those that come first, up to `next`.
 */
export class Unexplained {
  readonly #sums = new Map<string, readonly bigint[]>();
  readonly #most: number;
  readonly #from: string | undefined;
  #next: string | undefined;

  /** `from`: the first id that counts. Absent: all do. */
  constructor(most: number, from?: string) {
    this.#most = most;
    this.#from = from;
  }

  /** The first of the ids that were more than are held. Undefined: all were held. */
  get next(): string | undefined {
    return this.#next;
  }

  /** Whether nothing is left. */
  get isEmpty(): boolean {
    return this.#sums.size === 0;
  }

  /** Adds stored sums of an id: whole numbers with a space between them. */
  add(id: string, sums: string): void {
    this.#change(id, sums, 1n);
  }

  /** Takes away what was found of an id. */
  take(id: string, sums: string): void {
    this.#change(id, sums, -1n);
  }

  #change(id: string, sums: string, sign: bigint): void {
    if ((this.#from !== undefined && id < this.#from) || (this.#next !== undefined && id >= this.#next)) {
      return;
    }
    const known = this.#sums.get(id);
    const changed = sums.split(" ").map((sum, at) => (known?.[at] ?? 0n) + sign * BigInt(sum));
    if (changed.every((sum) => sum === 0n)) {
      this.#sums.delete(id);
      return;
    }
    this.#sums.set(id, changed);
    if (this.#sums.size > this.#most) {
      this.#halve();
    }
  }

  /** Forgets about half of the ids. A sample is sorted, not all: requests wait meanwhile. */
  #halve(): void {
    const ids = [...this.#sums.keys()];
    const step = Math.ceil(ids.length / sampleSize);
    const sample = ids.filter((_, at) => at % step === 0).toSorted();
    const next = sample[sample.length >> 1] as string;
    this.#next = next;
    for (const id of ids) {
      if (id >= next) {
        this.#sums.delete(id);
      }
    }
  }
}
