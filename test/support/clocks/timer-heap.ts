/** A callback that waits for an instant. */
export interface Timer {
  readonly at: number;
  readonly callback: () => void;
  isCancelled: boolean;
}

/** Timers in a binary heap, the earliest on top; of those for one instant, the one that was set first. */
export class TimerHeap {
  readonly #heap: (Timer & { readonly order: number })[] = [];
  #orders = 0;
  #live = 0;

  /** How many timers wait. */
  get size(): number {
    return this.#live;
  }

  /** Returns the function that cancels it. */
  add(at: number, callback: () => void): () => void {
    const timer = { at, callback, isCancelled: false, order: this.#orders++ };
    this.#live++;
    this.#push(timer);
    return () => {
      if (!timer.isCancelled) {
        timer.isCancelled = true;
        this.#live--;
      }
    };
  }

  /** Takes out the earliest timer that is due by an instant. */
  take(until: number): Timer | undefined {
    for (let next = this.#heap[0]; next !== undefined && next.at <= until; next = this.#heap[0]) {
      this.#pop();
      if (!next.isCancelled) {
        next.isCancelled = true;
        this.#live--;
        return next;
      }
    }
    return undefined;
  }

  #isBefore(a: number, b: number): boolean {
    const [first, second] = [this.#heap[a], this.#heap[b]];
    if (first === undefined || second === undefined) {
      return first !== undefined;
    }
    return first.at === second.at ? first.order < second.order : first.at < second.at;
  }

  #swap(a: number, b: number): void {
    const [first, second] = [this.#heap[a], this.#heap[b]];
    if (first !== undefined && second !== undefined) {
      this.#heap[a] = second;
      this.#heap[b] = first;
    }
  }

  #push(timer: Timer & { readonly order: number }): void {
    let at = this.#heap.push(timer) - 1;
    for (let above = (at - 1) >> 1; at > 0 && this.#isBefore(at, above); above = (at - 1) >> 1) {
      this.#swap(at, above);
      at = above;
    }
  }

  #pop(): void {
    this.#swap(0, this.#heap.length - 1);
    this.#heap.pop();
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const child = this.#isBefore(right, left) ? right : left;
      if (!this.#isBefore(child, at)) {
        return;
      }
      this.#swap(at, child);
      at = child;
    }
  }
}
