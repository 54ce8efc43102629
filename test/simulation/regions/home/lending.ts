import type { PurseState, Wish } from "../protocol.ts";
import { times } from "../protocol.ts";
import type { HomeBooks } from "./books.ts";

/** A region that waits for money of a purse. */
interface Waiting {
  readonly region: string;
  readonly epoch: number;
  readonly wish: Wish;
  readonly until: number;
}

/** How a purse is lent, kept while the process lives. */
interface Lent {
  isPoor: boolean;
  /** When each region last asked. */
  readonly users: Map<string, number>;
  waiting: Waiting[];
  /** Regions that were told that there is no money. */
  readonly dry: Set<string>;
  calledAt: number;
}

/** Milliseconds after which a region that shares a purse and has not asked no longer counts. */
const userMs = 30_000;
/** The least milliseconds between two calls for money that others have. */
const callMs = 250;
/** The number of needs that a share must cover to be granted as a slice. Below it the purse is poor. */
const needs = 4;

/** What to tell a region. */
export interface Word {
  readonly region: string;
  readonly purse: PurseState;
}

/** Decides how much of a purse a region gets: its wish while there is plenty, and single holds when money is short. */
export class Lending {
  readonly #books: HomeBooks;
  readonly #now: () => number;
  readonly #purses = new Map<string, Lent>();

  constructor(books: HomeBooks, now: () => number) {
    this.#books = books;
    this.#now = now;
  }

  #lent(purseId: string): Lent {
    let lent = this.#purses.get(purseId);
    if (lent === undefined) {
      lent = { isPoor: false, users: new Map(), waiting: [], dry: new Set(), calledAt: Number.NEGATIVE_INFINITY };
      this.#purses.set(purseId, lent);
    }
    return lent;
  }

  /** Grants a wish as far as possible. Returns what to tell the regions, the asking one first. */
  grant(region: string, epoch: number, wish: Wish): Word[] {
    const now = this.#now();
    const lent = this.#lent(wish.purseId);
    lent.users.set(region, now);
    lent.waiting = lent.waiting.filter((other) => other.region !== region);
    const need = wish.leastTo - this.#books.grantedTo(region, epoch, wish.purseId);
    if (need <= 0) {
      return [this.#word(region, wish.purseId)];
    }
    const wasPoor = lent.isPoor;
    const amount = this.#size(lent, need, wish);
    const calls = lent.isPoor && !wasPoor ? this.#call(lent, region, wish.purseId) : [];
    if (amount >= need) {
      this.#books.lend(region, epoch, wish.purseId, amount);
      lent.dry.delete(region);
      return [this.#word(region, wish.purseId), ...calls];
    }
    if (this.#books.lentElsewhere(region, wish.purseId) > 0 || this.#books.inDoubt) {
      lent.waiting.push({ region, epoch, wish, until: now + times.patience });
      return [this.#word(region, wish.purseId), ...calls, ...this.#callAgain(lent, region, wish.purseId)];
    }
    // Nobody else has any: the rest may still be enough for a shorter answer.
    this.#books.lend(region, epoch, wish.purseId, this.#books.lendable(wish.purseId));
    lent.dry.add(region);
    return [this.#word(region, wish.purseId), ...calls];
  }

  /** How much to lend now. Less than needed: there is not enough here. */
  #size(lent: Lent, need: number, wish: Wish): number {
    const now = this.#now();
    const here = this.#books.lendable(wish.purseId);
    const most = wish.mostTo - wish.leastTo + need;
    let users = 0;
    for (const at of lent.users.values()) {
      users += now - at < userMs ? 1 : 0;
    }
    const share = Math.floor(here / (2 * users));
    lent.isPoor = share < most && share < needs * need;
    const queue = wish.queueTo - wish.leastTo + need;
    if (lent.isPoor) {
      return Math.min(here, queue);
    }
    // Waiting requests may have an even share; later ones half of it.
    return Math.min(most, Math.max(share, need, Math.min(queue, 2 * share)));
  }

  /** Tells all others that money of a purse is short, so that they return what they do not hold. */
  #call(lent: Lent, region: string, purseId: string): Word[] {
    lent.calledAt = this.#now();
    const holders = new Set<string>();
    for (const { slices } of this.#books.lotsOf(purseId)) {
      for (const slice of slices.values()) {
        if (slice.region !== region && !slice.isClosed && slice.granted > slice.spent + slice.returned) {
          holders.add(slice.region);
        }
      }
    }
    return [...holders].map((holder) => this.#word(holder, purseId));
  }

  /** Repeats a call, which may have been lost. */
  #callAgain(lent: Lent, region: string, purseId: string): Word[] {
    return this.#now() - lent.calledAt < 4 * callMs ? [] : this.#call(lent, region, purseId);
  }

  /**
   * Money of purses was returned, or came in: waiting regions are served in their order, and those that were told of
   * none are told.
   */
  came(purseIds: Iterable<string>): Word[] {
    const words: Word[] = [];
    for (const purseId of purseIds) {
      const lent = this.#purses.get(purseId);
      if (lent !== undefined) {
        words.push(...this.#serve(lent, purseId));
      }
    }
    return words;
  }

  #serve(lent: Lent, purseId: string): Word[] {
    const words: Word[] = [];
    const { waiting } = lent;
    lent.waiting = [];
    for (const one of waiting) {
      if (one.until > this.#now() && this.#books.state.regions.get(one.region)?.epoch === one.epoch) {
        words.push(...this.grant(one.region, one.epoch, one.wish));
      }
    }
    if (lent.dry.size > 0 && this.#books.lendable(purseId) > 0) {
      words.push(...[...lent.dry].map((region) => this.#word(region, purseId)));
      lent.dry.clear();
    }
    return words;
  }

  /** Limits and money changed: tells all regions that hold some. */
  tellAll(purseId: string): Word[] {
    return this.#call(this.#lent(purseId), "", purseId);
  }

  /** What to tell a region about a purse of which too much is lent: it must return what it does not hold. */
  call(region: string, purseId: string): PurseState {
    return { ...this.#word(region, purseId).purse, isPoor: true };
  }

  #word(region: string, purseId: string): Word {
    const elsewhere = this.#books.lendable(purseId) + this.#books.lentElsewhere(region, purseId);
    // While it is unknown what was lent before a failover, there may be more.
    const unknown = this.#books.inDoubt ? 1 : 0;
    const excess = this.#books.excess(region, purseId);
    return { region, purse: { purseId, isPoor: this.#lent(purseId).isPoor, elsewhere: elsewhere + unknown, excess } };
  }
}
