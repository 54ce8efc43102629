import { randomInt } from "node:crypto";

/*
 * Wrong: a Map or Set of V8 in which much comes and goes makes itself a new table now and then, and the table that it
 * leaves points to the new one and still to all that was in it. Once one of its tables is old, all later ones are made
 * in the old space. So each abandoned table keeps the next one, and whatever was in it, from every small collection:
 * what was in the Map for a millisecond grows old with all that it refers to.
 * Upstream: V8 14 in Node.js 26 (`OrderedHashTable::Rehash`, `SetNextTable`); 12 in Node.js 22 does the same.
 * Still needed while test/lib/workarounds/churning-map.test.ts sees the old space grow with a Map.
 * Delete when V8 empties the tables that it abandons; `LinkedList` then becomes a Set, too.
 */

/** Makes hashes differ from process to process, so that nobody chooses keys that collide. */
const seed = randomInt(2 ** 31);
const leastRoom = 64;

/**
 * A map by text for what comes and goes with requests. Its room is that of the most that it ever held. It has to stay
 * below half full.
 */
export class ChurningMap<V> {
  #keys: (string | undefined)[] = [];
  #values: (V | undefined)[] = [];
  #hashes = new Int32Array();
  /** The count of keys that had come before each. */
  #order: number[] = [];
  #mask = 0;
  #size = 0;
  #came = 0;

  constructor() {
    this.#makeRoom(leastRoom);
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): V | undefined {
    return this.#values[this.#find(key, hash(key))];
  }

  has(key: string): boolean {
    return this.#keys[this.#find(key, hash(key))] !== undefined;
  }

  set(key: string, value: V): void {
    const hashed = hash(key);
    const at = this.#find(key, hashed);
    if (this.#keys[at] !== undefined) {
      this.#values[at] = value;
      return;
    }
    this.#put(at, key, value, hashed, this.#came++);
    this.#size++;
    if (this.#size * 2 > this.#mask) {
      this.#grow();
    }
  }

  /** Returns whether it was there. */
  delete(key: string): boolean {
    let hole = this.#find(key, hash(key));
    if (this.#keys[hole] === undefined) {
      return false;
    }
    // Each of those behind it that would no longer be found moves into the hole, and leaves one.
    for (let at = (hole + 1) & this.#mask; this.#keys[at] !== undefined; at = (at + 1) & this.#mask) {
      const home = (this.#hashes[at] as number) & this.#mask;
      if (((at - home) & this.#mask) >= ((at - hole) & this.#mask)) {
        this.#put(hole, this.#keys[at], this.#values[at], this.#hashes[at] as number, this.#order[at] as number);
        hole = at;
      }
    }
    this.#keys[hole] = undefined;
    this.#values[hole] = undefined;
    this.#size--;
    return true;
  }

  /** All values, in the order in which their keys came. Takes time proportional to its room. */
  values(): V[] {
    return this.#taken()
      .sort((a, b) => (this.#order[a] as number) - (this.#order[b] as number))
      .map((at) => this.#values[at] as V);
  }

  clear(): void {
    this.#makeRoom(leastRoom);
    this.#size = 0;
  }

  /** The place of a key, or the free one where it would be. */
  #find(key: string, hashed: number): number {
    let at = hashed & this.#mask;
    for (let found = this.#keys[at]; found !== undefined && found !== key; found = this.#keys[at]) {
      at = (at + 1) & this.#mask;
    }
    return at;
  }

  #put(at: number, key: string | undefined, value: V | undefined, hashed: number, order: number): void {
    this.#keys[at] = key;
    this.#values[at] = value;
    this.#hashes[at] = hashed;
    this.#order[at] = order;
  }

  #taken(): number[] {
    return this.#keys.flatMap((key, at) => (key === undefined ? [] : [at]));
  }

  #grow(): void {
    const [taken, keys, values, hashes, order] = [this.#taken(), this.#keys, this.#values, this.#hashes, this.#order];
    this.#makeRoom(keys.length * 2);
    for (const at of taken) {
      const key = keys[at] as string;
      const hashed = hashes[at] as number;
      this.#put(this.#find(key, hashed), key, values[at], hashed, order[at] as number);
    }
  }

  #makeRoom(room: number): void {
    this.#keys = new Array<string | undefined>(room).fill(undefined);
    this.#values = new Array<V | undefined>(room).fill(undefined);
    this.#hashes = new Int32Array(room);
    this.#order = new Array<number>(room).fill(0);
    this.#mask = room - 1;
  }
}

/** FNV-1a of 32 bits. */
function hash(text: string): number {
  let hashed = seed;
  for (let at = 0; at < text.length; at++) {
    hashed = Math.imul(hashed ^ text.charCodeAt(at), 16_777_619);
  }
  return hashed ^ (hashed >>> 15);
}
