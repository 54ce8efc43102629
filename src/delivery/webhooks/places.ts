/**
 * The most requests under way: in total, to an endpoint that accepts events, and to one that does not or is not known
 * yet.
 */
const mostAtOnce = 128;
const mostToWorking = 8;
const mostToOthers = 1;
/** The most endpoints remembered as working. Deleted ones stay among them until all are forgotten. */
const mostKnown = 1000;

/** The part of a delivery that decides about its place. */
interface Placed {
  readonly id: string;
  readonly webhookId: string;
}

/**
 * Decides which deliveries may be sent at the same time. There are at most a hundred endpoints, so those that hang
 * leave places for the others, however many hang and however many deliveries wait for them.
 */
export class Places {
  /** Ids of deliveries under way, by endpoint. */
  readonly #underway = new Map<string, Set<string>>();
  readonly #working = new Set<string>();

  get count(): number {
    let sum = 0;
    for (const ids of this.#underway.values()) {
      sum += ids.size;
    }
    return sum;
  }

  /** How many more requests may be under way. */
  get room(): number {
    return mostAtOnce - this.count;
  }

  /** Ids of the deliveries under way. */
  get ids(): string[] {
    return [...this.#underway.values()].flatMap((ids) => [...ids]);
  }

  /** Endpoints that have no place left. */
  get full(): string[] {
    return [...this.#underway].filter(([id, ids]) => ids.size >= this.#mostTo(id)).map(([id]) => id);
  }

  /** Takes a place for a delivery. False: the delivery is under way already, or there is no place. */
  take({ id, webhookId }: Placed): boolean {
    const ids = this.#underway.get(webhookId) ?? new Set();
    if (ids.has(id) || ids.size >= this.#mostTo(webhookId) || this.room <= 0) {
      return false;
    }
    this.#underway.set(webhookId, ids.add(id));
    return true;
  }

  /** Gives back the place. `works`: whether the endpoint accepted the delivery. */
  leave({ id, webhookId }: Placed, works: boolean): void {
    const ids = this.#underway.get(webhookId);
    ids?.delete(id);
    if (ids?.size === 0) {
      this.#underway.delete(webhookId);
    }
    if (!works) {
      this.#working.delete(webhookId);
      return;
    }
    if (this.#working.size >= mostKnown) {
      this.#working.clear();
    }
    this.#working.add(webhookId);
  }

  #mostTo(webhookId: string): number {
    return this.#working.has(webhookId) ? mostToWorking : mostToOthers;
  }
}
