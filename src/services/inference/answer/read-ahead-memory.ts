import type { Overload } from "#lib/overload/monitor.ts";

/** Memory for answers that wait for slow readers, shared by all of them. Sizes are in bytes, estimated. */
export class ReadAheadMemory {
  readonly #total: number;
  readonly #share: number;
  readonly #byAccount = new Map<string, number>();
  readonly #overload: Overload;
  #used = 0;

  /** One account gets at most an eighth of the total. While the process is short of memory there is no room at all. */
  constructor(total: number, overload: Overload) {
    this.#total = total;
    this.#share = total / 8;
    this.#overload = overload;
  }

  get used(): number {
    return this.#used;
  }

  /** Whether more of an account's answers may be read ahead. */
  hasRoom(accountId: string): boolean {
    const isShort = this.#overload.shortage === "memory";
    return !isShort && this.#used < this.#total && (this.#byAccount.get(accountId) ?? 0) < this.#share;
  }

  /** Counts bytes that came. Negative: bytes that left. */
  add(accountId: string, bytes: number): void {
    this.#used += bytes;
    const used = (this.#byAccount.get(accountId) ?? 0) + bytes;
    if (used === 0) {
      this.#byAccount.delete(accountId);
    } else {
      this.#byAccount.set(accountId, used);
    }
  }
}
