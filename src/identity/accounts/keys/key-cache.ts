import { hash } from "node:crypto";
import { BoundedMap } from "#lib/overload/bounded-map.ts";
import type { Clock } from "#lib/time/clock.ts";

/** How old an answer may be: a second less than the time within which a revoked key stops working everywhere. */
const freshMs = 9_000;
/** From this age on an answer is fetched anew while the old one still serves, so that a key in use never waits. */
const renewMs = 4_000;
const absentMs = 5_000;
const mostEntries = 100_000;
const mostAbsent = 10_000;

interface Entry<T> {
  readonly value: T | undefined;
  /** When the fetch began: the answer is at most as old as this. */
  readonly fetchedAt: number;
}

/**
 * Remembers a store's answers about secrets for a few seconds, and never serves an older answer. Only one fetch for a
 * secret runs at a time. Memory is bounded: the least recently fetched answer is forgotten first. It holds hashes, not
 * the secrets themselves.
 */
export class KeyCache<T> {
  readonly #fetch: (secret: string) => Promise<T | undefined>;
  readonly #clock: Clock;
  readonly #toKey: (secret: string) => string;
  readonly #present = new BoundedMap<string, Entry<T>>(mostEntries);
  /** Kept apart, so that a flood of unknown keys does not push out known ones. */
  readonly #absent = new BoundedMap<string, Entry<T>>(mostAbsent);
  readonly #underway = new Map<string, Promise<T | undefined>>();
  /** Counts calls of `forget`: a fetch that began before one must not bring an answer back. */
  #generation = 0;

  /** `toKey`: the key under which an entry is stored. Absent: a hash, so that memory holds no secret. */
  constructor(
    fetch: (secret: string) => Promise<T | undefined>,
    clock: Clock,
    toKey = (secret: string) => hash("sha256", secret, "base64"),
  ) {
    this.#fetch = fetch;
    this.#clock = clock;
    this.#toKey = toKey;
  }

  /** The store's answer, at most nine seconds old. */
  get(secret: string): T | undefined | Promise<T | undefined> {
    const key = this.#toKey(secret);
    const now = this.#clock.monotonic();
    const present = this.#present.get(key);
    if (present && now - present.fetchedAt < freshMs) {
      // If this fails the next request asks again; without an answer in time that request fails, too.
      if (now - present.fetchedAt >= renewMs) {
        this.#load(key, secret, now).catch(() => {});
      }
      return present.value;
    }
    const absent = this.#absent.get(key);
    if (absent && now - absent.fetchedAt < absentMs) {
      return undefined;
    }
    return this.#load(key, secret, now);
  }

  /** Forgets the values that match, and makes sure that no fetch under way brings one back. */
  forget(matches: (value: T) => boolean): void {
    this.#generation++;
    this.#underway.clear();
    for (const [key, { value }] of this.#present) {
      if (value !== undefined && matches(value)) {
        this.#present.delete(key);
      }
    }
  }

  #load(key: string, secret: string, now: number): Promise<T | undefined> {
    const underway = this.#underway.get(key);
    if (underway !== undefined) {
      return underway;
    }
    const generation = this.#generation;
    const fetching = this.#fetch(secret)
      .then((value) => {
        if (generation === this.#generation) {
          this.#keep(key, { value, fetchedAt: now });
        }
        return value;
      })
      .finally(() => {
        if (this.#underway.get(key) === fetching) {
          this.#underway.delete(key);
        }
      });
    this.#underway.set(key, fetching);
    return fetching;
  }

  #keep(key: string, entry: Entry<T>): void {
    this.#present.delete(key);
    this.#absent.delete(key);
    (entry.value === undefined ? this.#absent : this.#present).set(key, entry);
  }
}
