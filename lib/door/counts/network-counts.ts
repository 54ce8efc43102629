/** Counts for each network, with a bound. */
export class NetworkCounts {
  readonly #counts = new Map<string, number>();

  /** Adds one to a network's count. Returns false when the count has reached `most`. */
  add(network: string, most: number): boolean {
    const count = this.#counts.get(network) ?? 0;
    if (count >= most) {
      return false;
    }
    this.#counts.set(network, count + 1);
    return true;
  }

  /** Subtracts one. Returns whether any are left. */
  remove(network: string): boolean {
    const count = this.#counts.get(network) ?? 0;
    if (count > 1) {
      this.#counts.set(network, count - 1);
      return true;
    }
    this.#counts.delete(network);
    return false;
  }
}
