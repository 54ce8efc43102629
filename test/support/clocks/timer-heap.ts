/** A callback that waits for a time. */
export interface Timer {
  readonly at: number;
  readonly callback: () => void;
  isCancelled: boolean;
}

type Waiting = Timer & { readonly order: number };

/** Timers in a binary heap, the earliest on top. Timers for the same time keep the order in which they were set. */
export class TimerHeap {
  readonly #heap: Waiting[] = [];
  #orders = 0;
  #live = 0;

  /** The number of waiting timers. */
  get size(): number {
    return this.#live;
  }

  /** Adds a timer. Returns the function that cancels it. */
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

  /** Removes the earliest timer that is due by a time. Undefined: none is due. */
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

  #push(timer: Waiting): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(timer);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as Waiting;
      if (!isBefore(timer, parent)) {
        break;
      }
      heap[at] = parent;
      at = above;
    }
    heap[at] = timer;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Waiting;
    const size = heap.length;
    if (size === 0) {
      return;
    }
    let at = 0;
    for (let below = 1; below < size; below = 2 * at + 1) {
      if (below + 1 < size && isBefore(heap[below + 1] as Waiting, heap[below] as Waiting)) {
        below++;
      }
      const child = heap[below] as Waiting;
      if (!isBefore(child, last)) {
        break;
      }
      heap[at] = child;
      at = below;
    }
    heap[at] = last;
  }
}

function isBefore(a: Waiting, b: Waiting): boolean {
  return a.at === b.at ? a.order < b.order : a.at < b.at;
}
