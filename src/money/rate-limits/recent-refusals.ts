import type { ConnectError } from "@connectrpc/connect";
import { BoundedMap } from "#lib/overload/bounded-map.ts";
import type { Clock } from "#lib/time/clock.ts";

/** A refusal that holds for other requests of the same key, too. */
export interface Refusal {
  /** Milliseconds until a request may be admitted. */
  readonly waitMs: number;
  /** The limit that was asked for. A higher one lets requests in earlier. */
  readonly limit: number;
  /** The error for a request that is refused so many milliseconds later. */
  error(laterMs: number): ConnectError;
}

interface Noted extends Refusal {
  readonly at: number;
  readonly until: number;
}

/**
 * Milliseconds for which a refusal is repeated. Then requests ask again, each with its whole body: the wait of a window is known,
 * a place may become free at any time on another core.
 */
const mostMs = { window: 10_000, places: 250 };
/** The refusals of a kind that are remembered. */
const mostNoted = 10_000;

/** Remembers for a moment which keys were refused, so that their next requests are refused without being read. */
export class RecentRefusals {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #windows = new BoundedMap<string, Noted>(mostNoted);
  /** By account, each by key: a place of an account may become free for any of its keys. */
  readonly #places = new BoundedMap<string, Map<string, Noted>>(mostNoted);

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** A key's requests of the minute are spent. */
  noteWindow(key: string, refusal: Refusal): void {
    this.#windows.set(key, this.#note(refusal, mostMs.window));
  }

  /** As many requests of a key, or of its account, run as may. */
  notePlaces(account: string, key: string, refusal: Refusal): void {
    const keys = this.#places.get(account) ?? new Map<string, Noted>();
    this.#places.set(account, keys.set(key, this.#note(refusal, mostMs.places)));
  }

  /** A request of an account has ended. */
  free(account: string): void {
    this.#places.delete(account);
  }

  /** Forgets all: the limits are others now. */
  clear(): void {
    this.#windows.clear();
    this.#places.clear();
  }

  /** The refusal that a key's next request meets, and its error. `isRaised` judges the limit of then. */
  find(account: string, key: string, isRaised: (limit: number) => boolean): ConnectError | undefined {
    const now = this.#clock.monotonic();
    const places = this.#places.get(account)?.get(key);
    if (places !== undefined && now < places.until) {
      return places.error(now - places.at);
    }
    const window = this.#windows.get(key);
    if (window !== undefined && now < window.until && !isRaised(window.limit)) {
      return window.error(now - window.at);
    }
    this.#places.get(account)?.delete(key);
    this.#windows.delete(key);
    return undefined;
  }

  /** Whether a key was refused a moment ago. */
  has(account: string, key: string): boolean {
    return this.#windows.has(key) || this.#places.get(account)?.has(key) === true;
  }

  #note(refusal: Refusal, most: number): Noted {
    const at = this.#clock.monotonic();
    return { ...refusal, at, until: at + Math.min(refusal.waitMs, most) };
  }
}
