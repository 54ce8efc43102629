import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { repeat } from "#lib/time/repeat.ts";
import { DigestSet } from "./digest-set.ts";

/** The part of a key, session or link that the filter needs. */
export interface StoredDigest {
  /** UUIDv7: ids sort by creation time. */
  readonly id: string;
  readonly digest: Uint8Array;
}

/** The source of the filter's digests. */
export interface DigestSource {
  /** The next keys after an id, in the order of ids. Empty: there are no more. */
  after(id: string): Promise<readonly StoredDigest[]>;
  /** All keys of some accounts. */
  ofAccounts(accountIds: readonly string[]): Promise<readonly StoredDigest[]>;
}

/** The least time between two queries, however many keys are unknown. */
const pauseMs = 100;
/** All digests are read again at this interval: a core whose clock is far behind gives its keys ids that look old. */
const reloadMs = 600_000;
/** How far clocks of cores may disagree between two reloads. */
const disagreementMs = 600_000;
const maxAnnounced = 1000;
const firstId = "00000000-0000-7000-8000-000000000000";

/**
 * Recognizes keys, and tokens of sessions and links, that do not exist without asking the database about each. A flood
 * of wrong keys costs the database ten small queries a second, and each wrong key waits for the next one. So a key that
 * another core has just made is known here at its first use, even if its announcement has not come yet. Until all
 * digests have been read, every key may exist.
 */
export class DigestFilter {
  readonly #source: DigestSource;
  readonly #clock: Clock;
  #known = new DigestSet();
  /** The digests that are read now in place of the known ones: without those that are no longer stored. */
  #fresh: DigestSet | undefined;
  #announced = new Set<string>();
  #isLoaded = false;
  #latest = firstId;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  #refreshing: Promise<void> | undefined;
  /** The query that callers wait for from now on. */
  #next: Promise<void> | undefined;

  constructor(source: DigestSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** The number of known keys. */
  get size(): number {
    return this.#known.size;
  }

  /** Reads all digests now and every ten minutes. Returns the function that ends it. */
  start(logger: Logger): () => void {
    return repeat(this.#clock, reloadMs, logger, "read the digests of keys", () => this.load(), 0);
  }

  /** Reads all digests. */
  async load(): Promise<void> {
    const fresh = new DigestSet();
    this.#fresh = fresh;
    try {
      await this.#read(firstId);
      this.#known = fresh;
    } finally {
      this.#fresh = undefined;
    }
    this.#isLoaded = true;
  }

  /** Notes a key that this core has just made. */
  add(digest: Uint8Array): void {
    this.#known.add(digest);
    this.#fresh?.add(digest);
  }

  /** Notes that another core has changed an account's keys. */
  announce(accountId: string): void {
    if (this.#announced.size < maxAnnounced) {
      this.#announced.add(accountId);
    }
  }

  /** Whether a known key has one of these digests. */
  knows(digests: readonly Uint8Array[]): boolean {
    return this.#has(digests);
  }

  /** Whether a key may have one of these digests. Rejects when the source has to be asked and fails. */
  mayExist(digests: readonly Uint8Array[]): boolean | Promise<boolean> {
    if (!this.#isLoaded || this.#has(digests)) {
      return true;
    }
    this.#next ??= this.#refreshNext();
    return this.#next.then(() => this.#has(digests));
  }

  /** Queries the source as soon as it may be queried again. A query that was under way may have missed the key. */
  async #refreshNext(): Promise<void> {
    await this.#refreshing?.catch(() => {}); // its own callers learn of its failure
    const waitMs = this.#refreshedAt + pauseMs - this.#clock.monotonic();
    if (waitMs > 0) {
      await new Promise<void>((resolve) => this.#clock.after(waitMs, resolve));
    }
    this.#next = undefined;
    this.#refreshing = this.#refresh();
    await this.#refreshing;
  }

  #has(digests: readonly Uint8Array[]): boolean {
    return digests.some((digest) => this.#known.has(digest));
  }

  async #refresh(): Promise<void> {
    this.#refreshedAt = this.#clock.monotonic();
    const announced = this.#announced;
    this.#announced = new Set();
    try {
      const changed = announced.size === 0 ? [] : await this.#source.ofAccounts([...announced]);
      for (const { digest } of changed) {
        this.add(digest);
      }
      // A core whose clock is ahead gives its keys ids from the future: this core's own clock bounds them.
      const since = Math.min(readTime(this.#latest), this.#clock.now()) - disagreementMs;
      await this.#read(writeId(Math.max(0, since)));
    } catch (error) {
      for (const accountId of announced) {
        this.announce(accountId);
      }
      throw error;
    }
  }

  async #read(from: string): Promise<void> {
    let after = from;
    for (;;) {
      const page = await this.#source.after(after);
      for (const { digest } of page) {
        this.add(digest);
      }
      const last = page.at(-1);
      if (last === undefined) {
        return;
      }
      after = last.id;
      if (after > this.#latest) {
        this.#latest = after;
      }
    }
  }
}

/** The creation time of an id, in milliseconds since the Unix epoch. */
function readTime(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The lowest id of a millisecond. */
function writeId(ms: number): string {
  const time = Math.floor(ms).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}${firstId.slice(13)}`;
}
