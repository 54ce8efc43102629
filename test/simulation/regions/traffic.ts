import type { Dice } from "../world/dice.ts";
import type { Timeline } from "../world/timeline.ts";
import type { Region } from "./bank/region.ts";
import type { Customer } from "./customers.ts";
import { times } from "./protocol.ts";

/** Sends requests to the regions. */
export class Traffic {
  requests = 0;
  readonly #timeline: Timeline;
  readonly #dice: Dice;
  readonly #regions: readonly Region[];
  readonly #customers: readonly Customer[];
  #stopped = false;

  constructor(parts: {
    timeline: Timeline;
    dice: Dice;
    regions: readonly Region[];
    customers: readonly Customer[];
  }) {
    this.#timeline = parts.timeline;
    this.#dice = parts.dice;
    this.#regions = parts.regions;
    this.#customers = parts.customers;
  }

  /** Sends requests continually, at this mean interval. */
  begin(meanMs: number): void {
    this.#timeline.after(this.#dice.exponential(meanMs), () => {
      if (!this.#stopped) {
        this.begin(meanMs);
        this.#send();
      }
    });
  }

  stop(): void {
    this.#stopped = true;
  }

  #send(): void {
    const customer = this.#dice.pickWeighted(this.#customers);
    const { at } = this.#dice.pickWeighted(customer.shares);
    const key = this.#dice.pick(customer.keys);
    const worst = Math.max(1, Math.floor(customer.size * (0.2 + this.#dice.fraction())));
    this.requests++;
    this.#regions[at]?.ask({
      id: `request ${this.requests}`,
      keyId: key.id,
      purses: key.purses.map((purse) => ({ ...purse, need: purse.kind === "rate" ? 1 : worst })),
      cost: Math.floor(worst * this.#dice.fraction()),
      runMs: Math.min(times.longestRun, this.#dice.exponential(this.#dice.chance(0.1) ? 15_000 : 1500)),
      isPatient: false,
    });
  }
}
