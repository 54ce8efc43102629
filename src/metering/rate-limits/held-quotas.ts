import type { QuotaDemand } from "./quota.ts";

/** The commands that tell the server of the quotas that runs of this core hold. Neither rejects. */
export interface QuotaServer {
  /** Gives back amounts; so much of each stays counted for a minute. `told` has name, amount, counted of each. */
  end(told: readonly (readonly [name: string, amount: number, counted: number])[]): void;
  /** Sends all that runs of this core hold. `beginning`: so much more runs that begin may have taken already. */
  renew(told: readonly (readonly [name: string, amount: number, beginning: number])[]): void;
}

interface Held {
  amount: number;
  /** What runs ask for whose beginning the server has not answered. */
  beginning: number;
}

/** How many quotas one command renews. */
const batchSize = 500;

/**
 * The parts of quotas that runs of this core hold, where a server counts for all cores. Ends of one turn of the event
 * loop go out together. Everything that is held is sent again at an interval: the server forgets a core that falls silent,
 * and a server that lost its data learns it anew.
 */
export class HeldQuotas {
  readonly #server: QuotaServer;
  readonly #held = new Map<string, Held>();
  #ended = new Map<string, { amount: number; counted: number }>();

  constructor(server: QuotaServer) {
    this.#server = server;
  }

  /** A run demands parts, and the server is being asked. */
  asked(demands: readonly QuotaDemand[]): void {
    for (const { name, amount } of demands) {
      this.#open(name).beginning += amount;
    }
  }

  /** The server has answered, or not in time, which is a no that it may not know of. */
  answered(demands: readonly QuotaDemand[], isGranted: boolean): void {
    for (const { name, amount } of demands) {
      const held = this.#open(name);
      held.beginning -= amount;
      held.amount += isGranted ? amount : 0;
      this.#closeIdle(name, held);
    }
  }

  /** A run has ended. */
  give(demands: readonly QuotaDemand[], counted: readonly number[]): void {
    if (this.#ended.size === 0) {
      setImmediate(() => this.flush());
    }
    for (const [i, { name, amount }] of demands.entries()) {
      const held = this.#open(name);
      held.amount -= amount;
      this.#closeIdle(name, held);
      const ended = this.#ended.get(name) ?? { amount: 0, counted: 0 };
      ended.amount += amount;
      ended.counted += counted[i] ?? 0;
      this.#ended.set(name, ended);
    }
  }

  /** Sends the ends of runs at once. */
  flush(): void {
    const ended = this.#ended;
    if (ended.size > 0) {
      this.#ended = new Map();
      this.#server.end([...ended].map(([name, { amount, counted }]) => [name, amount, counted]));
    }
  }

  /** Sends all that is held. */
  renew(): void {
    this.flush();
    const all = [...this.#held].map(([name, { amount, beginning }]) => [name, amount, beginning] as const);
    for (let i = 0; i < all.length; i += batchSize) {
      this.#server.renew(all.slice(i, i + batchSize));
    }
  }

  #open(name: string): Held {
    let held = this.#held.get(name);
    if (held === undefined) {
      held = { amount: 0, beginning: 0 };
      this.#held.set(name, held);
    }
    return held;
  }

  #closeIdle(name: string, { amount, beginning }: Held): void {
    if (amount === 0 && beginning === 0) {
      this.#held.delete(name);
    }
  }
}
