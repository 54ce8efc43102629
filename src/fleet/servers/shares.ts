import type { Member } from "./member.ts";
import type { Place } from "./place.ts";

/** An account that runs this many requests leaves the last free place to others. */
const mostWithLast = 3;

/** The free room on servers that take requests now. */
export interface FreeRoom {
  readonly places: number;
  /** Free tokens of their KV caches, of the servers that are known. Undefined: of none. */
  readonly tokens: number | undefined;
}

interface Held {
  places: number;
  work: number;
  tokens: number;
}

const nothing: Readonly<Held> = { places: 0, work: 0, tokens: 0 };

/** Sums the free room of servers. */
export function findFreeRoom(members: readonly Member[]): FreeRoom {
  let places = 0;
  let tokens: number | undefined;
  for (const member of members) {
    if (member.available) {
      places += member.freePlaces;
      tokens = member.kv.free === undefined ? tokens : (tokens ?? 0) + member.kv.free;
    }
  }
  return { places, tokens };
}

/**
 * What each account has running, and how much more it may have. Its limit is a multiple of what is free, so that a
 * newcomer always finds room, whether there is one large account or many. These are the dynamic thresholds of Choudhury
 * and Hahne (1998) for buffers that queues share.
 */
export class Shares {
  readonly #multiple: number;
  readonly #held = new Map<string, Held>();
  /** The work that accounts have running on other cores. */
  readonly #elsewhere = new Map<string, number>();

  /** `reserve` is the part that an account leaves free when it is alone. */
  constructor(reserve: number) {
    this.#multiple = (1 - reserve) / reserve;
  }

  /** The work that an account has running, on all cores. */
  workOf(key: string): number {
    return this.workHere(key) + (this.#elsewhere.get(key) ?? 0);
  }

  /** The work that an account has running on this core. */
  workHere(key: string): number {
    return (this.#held.get(key) ?? nothing).work;
  }

  /** The work that an account has running on other cores is now this. */
  runsElsewhere(key: string, work: number): void {
    if (work > 0) {
      this.#elsewhere.set(key, work);
    } else {
      this.#elsewhere.delete(key);
    }
  }

  /** The accounts that have something running on this core. */
  get keys(): Iterable<string> {
    return this.#held.keys();
  }

  /** Whether an account runs anything. */
  hasAny(key: string): boolean {
    return this.#held.has(key);
  }

  /** Whether an account may run one more request of this many tokens. Without an account: while there is room. */
  mayEnter(key: string, tokens: number, free: FreeRoom): boolean {
    const held = this.#held.get(key) ?? nothing;
    if (key === "" || held.places === 0 || this.#multiple === Number.POSITIVE_INFINITY) {
      return true;
    }
    if (free.places === 1 && held.places >= mostWithLast) {
      return false;
    }
    const hasPlaces = held.places < this.#multiple * free.places;
    return hasPlaces && (free.tokens === undefined || held.tokens + tokens <= this.#multiple * (free.tokens - tokens));
  }

  enter({ key, expectedWork, expectedTokens }: Place): void {
    const held = this.#held.get(key) ?? { ...nothing };
    held.places++;
    held.work += expectedWork;
    held.tokens += expectedTokens;
    this.#held.set(key, held);
  }

  leave({ key, expectedWork, expectedTokens }: Place): void {
    const held = this.#held.get(key);
    if (held === undefined || held.places <= 1) {
      this.#held.delete(key);
      return;
    }
    held.places--;
    held.work -= expectedWork;
    held.tokens -= expectedTokens;
  }
}
