/**
 * Goes round the entries of a map, a few at a time, and forgets idle ones. A map in the order of use would tell them
 * sooner, but to move an entry to the end at each use makes V8 write its table anew every few uses.
 */
export class Round<Value> {
  readonly #map: Map<string, Value>;
  #entries: MapIterator<[string, Value]>;

  constructor(map: Map<string, Value>) {
    this.#map = map;
    this.#entries = map.entries();
  }

  /** Looks at two entries: enough where each call of this adds one at most. */
  forget(isIdle: (value: Value) => boolean): void {
    for (let i = 0; i < 2; i++) {
      const next = this.#entries.next();
      if (next.done) {
        this.#entries = this.#map.entries();
        return;
      }
      const [key, value] = next.value;
      if (isIdle(value)) {
        this.#map.delete(key);
      }
    }
  }
}
