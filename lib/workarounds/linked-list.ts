/** What can be in one list. The list alone writes these. */
export interface Linked<T> {
  earlier: T | undefined;
  later: T | undefined;
  /** Where it is now. */
  list: object | undefined;
}

/**
 * What comes and goes with requests, in the order in which it came: a Set would let all of it grow old (see
 * churning-map.ts). What has left points at nobody, for the same reason.
 */
export class LinkedList<T extends Linked<T>> {
  #first: T | undefined;
  #last: T | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): T | undefined {
    return this.#first;
  }

  has(one: T): boolean {
    return one.list === this;
  }

  /** Adds one at the end, unless it is in a list. */
  add(one: T): void {
    if (one.list !== undefined) {
      return;
    }
    one.list = this;
    one.earlier = this.#last;
    if (this.#last === undefined) {
      this.#first = one;
    } else {
      this.#last.later = one;
    }
    this.#last = one;
    this.#size++;
  }

  /** Takes one out, if it is in this list. */
  delete(one: T): void {
    if (!this.has(one)) {
      return;
    }
    const { earlier, later } = one;
    if (earlier === undefined) {
      this.#first = later;
    } else {
      earlier.later = later;
    }
    if (later === undefined) {
      this.#last = earlier;
    } else {
      later.earlier = earlier;
    }
    one.list = undefined;
    one.earlier = undefined;
    one.later = undefined;
    this.#size--;
  }

  /** Takes out the first one. */
  shift(): T | undefined {
    const first = this.#first;
    if (first !== undefined) {
      this.delete(first);
    }
    return first;
  }

  /** All, in the order in which they came. */
  toArray(): T[] {
    const all: T[] = [];
    for (let one = this.#first; one !== undefined; one = one.later) {
      all.push(one);
    }
    return all;
  }

  /** Takes out all, in the order in which they came. */
  takeAll(): T[] {
    const all = this.toArray();
    for (const one of all) {
      this.delete(one);
    }
    return all;
  }
}
