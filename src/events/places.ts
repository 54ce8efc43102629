/** Requests under way: all together, to an endpoint that takes events, and to one that does not or is not known yet. */
const mostAtOnce = 128;
const mostToWorking = 8;
const mostToOthers = 1;
/** Endpoints that are remembered as working; those that were deleted are among them until all are forgotten. */
const mostKnown = 1000;

/** A delivery, as far as its place goes. */
interface Placed {
  readonly id: string;
  readonly webhookId: string;
}

/**
 * Who may be sent to at once. Endpoints are at most a hundred, so that those that hang leave places to the others, however
 * many they are and however much waits for them.
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

  /** How many more may be under way. */
  get room(): number {
    return mostAtOnce - this.count;
  }

  /** Deliveries under way. */
  get ids(): string[] {
    return [...this.#underway.values()].flatMap((ids) => [...ids]);
  }

  /** Endpoints that have no place left. */
  get full(): string[] {
    return [...this.#underway].filter(([id, ids]) => ids.size >= this.#mostTo(id)).map(([id]) => id);
  }

  /** False: it is under way, or there is no place for it. */
  take({ id, webhookId }: Placed): boolean {
    const ids = this.#underway.get(webhookId) ?? new Set();
    if (ids.has(id) || ids.size >= this.#mostTo(webhookId) || this.room <= 0) {
      return false;
    }
    this.#underway.set(webhookId, ids.add(id));
    return true;
  }

  /** `works`: whether the endpoint took it. */
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
