/** One who waits. */
export interface Waiter {
  /** Whose turn it takes: waiters with the same key stand behind each other, different keys take turns. */
  readonly key: string;
}

/** A queue in which the keys take turns, so that one who sends much does not make the others wait for all of it. */
export class WaitingLine<T extends Waiter> {
  readonly #lines = new Map<string, T[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(waiter: T): void {
    const line = this.#lines.get(waiter.key);
    if (line === undefined) this.#lines.set(waiter.key, [waiter]);
    else line.push(waiter);
    this.#length++;
  }

  /** Takes a waiter out who does not want to wait any longer. */
  remove(waiter: T): void {
    const line = this.#lines.get(waiter.key);
    const at = line?.indexOf(waiter) ?? -1;
    if (line === undefined || at === -1) return;
    line.splice(at, 1);
    this.#length--;
    if (line.length === 0) this.#lines.delete(waiter.key);
  }

  /** Takes the next waiter out for whom `serve` answers true; its key stands behind all others then. */
  serveNext(serve: (waiter: T) => boolean): boolean {
    for (const [key, line] of this.#lines) {
      const at = line.findIndex(serve);
      if (at === -1) continue;
      line.splice(at, 1);
      this.#length--;
      this.#lines.delete(key);
      if (line.length > 0) this.#lines.set(key, line);
      return true;
    }
    return false;
  }
}
