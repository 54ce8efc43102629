/** A map that forgets the entry which was set the longest ago rather than hold more than so many. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: Key, value: Value): this {
    this.delete(key); // moves it to the end
    super.set(key, value);
    if (this.size > this.#most) {
      this.delete(this.keys().next().value as Key);
    }
    return this;
  }
}
