import type { QuotaDemand } from "./quota.ts";

/** The commands that tell the server which quotas runs of this core hold. Neither rejects. */
export interface QuotaServer {
  /** Gives amounts back; the counted part of each stays counted for a minute. Each entry: name, amount, counted. */
  end(told: readonly (readonly [name: string, amount: number, counted: number])[]): void;
  /** Sends everything that runs of this core hold. Runs that are beginning may have taken up to `beginning` more. */
  renew(told: readonly (readonly [name: string, amount: number, beginning: number])[]): void;
}

interface Held {
  amount: number;
  /** The demands of beginning runs that the server has not answered. */
  beginning: number;
}

/** The most quotas in one command. */
const batchSize = 500;

/**
 * The parts of quotas that runs of this core hold, where a server counts for all cores. Ends of runs in one turn of the
 * event loop are sent together. Everything held is sent again at an interval: the server forgets a core that falls
 * silent, and a server that lost its data learns it again.
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

  /** The server has answered, or not in time: that counts as a refusal of which the server may not know. */
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

  /** Sends the ended runs at once. */
  flush(): void {
    const ended = this.#ended;
    if (ended.size > 0) {
      this.#ended = new Map();
      this.#server.end([...ended].map(([name, { amount, counted }]) => [name, amount, counted]));
    }
  }

  /** Sends everything held. */
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
