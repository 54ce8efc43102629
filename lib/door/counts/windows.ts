import { BoundedMap } from "../../overload/bounded-map.ts";

interface Window {
  count: number;
  readonly endsAt: number;
}

/** Counts what owners do, each in windows of its own, which begin with its first deed. No more memory than for so many. */
export class Windows {
  readonly #windowMs: number;
  readonly #most: number;
  /** In the order in which they end. */
  readonly #windows: BoundedMap<string, Window>;

  /** `most`: the owners that are counted at a time. */
  constructor(windowMs: number, most: number) {
    this.#windowMs = windowMs;
    this.#most = most;
    this.#windows = new BoundedMap(most);
  }

  /** The owners that are kept now. */
  get size(): number {
    return this.#windows.size;
  }

  /** Whether an owner is counted already, or there is room for one more. */
  hasRoom(owner: string, now: number): boolean {
    this.#forgetEnded(now);
    return this.#windows.has(owner) || this.#windows.size < this.#most;
  }

  /** Counts one. Returns the milliseconds until the window ends when the owner has more than `limit`. */
  count(owner: string, limit: number, now: number): number | undefined {
    const known = this.#windows.get(owner);
    if (known !== undefined && known.endsAt > now) {
      known.count += 1;
      return known.count > limit ? Math.max(1, known.endsAt - now) : undefined;
    }
    this.#forgetEnded(now);
    this.#windows.set(owner, { count: 1, endsAt: now + this.#windowMs });
    return undefined;
  }

  /** The milliseconds until the window of an owner ends that has used up its limit. Undefined: it has not. */
  wait(owner: string, limit: number, now: number): number | undefined {
    const known = this.#windows.get(owner);
    return known !== undefined && known.count > limit && known.endsAt > now ? known.endsAt - now : undefined;
  }

  #forgetEnded(now: number): void {
    for (const [owner, { endsAt }] of this.#windows) {
      if (endsAt > now) {
        return;
      }
      this.#windows.delete(owner);
    }
  }
}
