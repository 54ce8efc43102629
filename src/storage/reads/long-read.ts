import { isUnreachable } from "../availability/unreachable.ts";
import type { Storage } from "../storage.ts";
import type { Reach, Snapshot } from "./snapshot.ts";

/**
 * A read that is long and need not be of this moment: a standby answers it, where one is near enough, so that it does not
 * hold old rows on the primary. The primary answers otherwise, and goes on where the standby breaks off.
 */
export class LongRead implements Pick<Storage, "snapshot" | "dialect"> {
  readonly #storage: Storage;
  /** Whether the primary alone answers from now on. */
  #isPrimary: boolean;
  #asOf: number | undefined;

  /** `fresh`: whether what is told must be of this moment, so that the primary answers. */
  constructor(storage: Storage, fresh = false) {
    this.#storage = storage;
    this.#isPrimary = fresh || storage.dialect === "sqlite" || storage.standby === undefined;
  }

  get dialect(): Storage["dialect"] {
    return this.#storage.dialect;
  }

  /** All of what was told is at least of this moment. Undefined: of the moment when it was read. */
  get asOf(): number | undefined {
    return this.#asOf;
  }

  async snapshot(reach?: Reach): Promise<Snapshot> {
    const storage = this.#storage;
    const second = this.#isPrimary || storage.dialect === "sqlite" ? undefined : await storage.standby?.snapshot(reach);
    if (second === undefined) {
      return storage.snapshot(reach);
    }
    this.#asOf = Math.min(this.#asOf ?? second.asOf, second.asOf);
    return second;
  }

  /** Runs a part of the read, and runs it again on the primary when the standby ended it or went away. */
  async attempt<T>(part: () => Promise<T>): Promise<T> {
    try {
      return await part();
    } catch (error) {
      if (!this.#turnsBack(error)) {
        throw error;
      }
      return part();
    }
  }

  /** As `attempt`, for pieces: what was passed on cannot be taken back, so only a part without any is run again. */
  async *pieces<T>(part: () => AsyncGenerator<T>): AsyncGenerator<T> {
    let hasBegun = false;
    try {
      for await (const piece of part()) {
        hasBegun = true;
        yield piece;
      }
    } catch (error) {
      if (hasBegun || !this.#turnsBack(error)) {
        throw error;
      }
      yield* part();
    }
  }

  /** Whether the primary answers instead from now on: what it replays may end what reads a standby. */
  #turnsBack(error: unknown): boolean {
    if (this.#isPrimary || !isUnreachable(error)) {
      return false;
    }
    this.#isPrimary = true;
    return true;
  }
}
