const leastRoom = 1024;

/**
 * A set of texts that may be wrong about one in a billion: it may say that it has one that was never added. It keeps no
 * text, only numbers outside of V8's heap, and its room is that of the most that it ever held.
 */
export class Fingerprints {
  #numbers = new Float64Array(leastRoom);
  #size = 0;

  has(text: string): boolean {
    const number = fingerprint(text);
    return this.#numbers[this.#find(number)] === number;
  }

  add(text: string): void {
    this.#put(fingerprint(text));
    if (this.#size * 2 > this.#numbers.length) {
      const numbers = this.#numbers;
      this.#numbers = new Float64Array(numbers.length * 2);
      this.#size = 0;
      for (const number of numbers) {
        if (number !== 0) {
          this.#put(number);
        }
      }
    }
  }

  clear(): void {
    this.#numbers.fill(0);
    this.#size = 0;
  }

  #put(number: number): void {
    const at = this.#find(number);
    if (this.#numbers[at] === 0) {
      this.#numbers[at] = number;
      this.#size++;
    }
  }

  /** The place of a number, or the free one where it would be. */
  #find(number: number): number {
    const mask = this.#numbers.length - 1;
    let at = number & mask;
    for (let found = this.#numbers[at]; found !== 0 && found !== number; found = this.#numbers[at]) {
      at = (at + 1) & mask;
    }
    return at;
  }
}

/** Two FNV-1a hashes as one whole number of 53 bits, never 0. */
function fingerprint(text: string): number {
  let low = 0x81_1c_9d_c5;
  let high = 0x05_0c_5d_1f;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 16_777_619);
    high = Math.imul(high ^ code, 0x85_eb_ca_6b) + low;
  }
  return ((high & 0x1f_ff_ff) >>> 0) * 2 ** 32 + (((low ^ (low >>> 15)) >>> 0) | 1);
}
