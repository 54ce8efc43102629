/** Counts by network, with a bound for each. */
export class NetworkCounts {
  readonly #counts = new Map<string, number>();

  /** Counts one more of a network. False: it has as many as it may. */
  add(network: string, most: number): boolean {
    const count = this.#counts.get(network) ?? 0;
    if (count >= most) {
      return false;
    }
    this.#counts.set(network, count + 1);
    return true;
  }

  /** Counts one less. */
  remove(network: string): void {
    const count = this.#counts.get(network) ?? 0;
    if (count > 1) {
      this.#counts.set(network, count - 1);
    } else {
      this.#counts.delete(network);
    }
  }
}
