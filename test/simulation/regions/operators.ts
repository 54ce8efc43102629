import type { Dice } from "../world/dice.ts";
import type { Region } from "./bank/region.ts";
import type { Customer } from "./customers.ts";
import type { LotFacts } from "./protocol.ts";
import type { World } from "./world.ts";

/** Milliseconds within which a silent region's store is read, once the home shard may accept its final state. */
const readMs = 5000;
const lookMs = 1000;
/** Milliseconds after a failover until an acknowledged but lost payment is reported again, as payment providers do. */
const tellAgainMs = 20_000;

/** Operators who move money and limits while requests run, and who read the stores of regions that do not come back. */
export class Operators {
  readonly #world: World;
  readonly #dice: Dice;
  readonly #paid: LotFacts[] = [];
  readonly #limited = new Map<string, number>();
  readonly #revoked = new Set<string>();
  /** Regions whose stores are about to be read. */
  readonly #planned = new Set<string>();
  #stopped = false;
  #payments = 0;

  constructor(world: World, dice: Dice) {
    this.#world = world;
    this.#dice = dice;
    this.#lookLater();
  }

  /** Opens all accounts with some money. */
  open(): void {
    for (const customer of this.#world.customers) {
      for (const facts of customer.limits) {
        this.#put(facts);
      }
      this.#topUp(customer);
    }
  }

  /** Acts continually, at this mean interval. `onlyTopUp`: only adds money. */
  begin(meanMs: number, onlyTopUp = false): void {
    this.#world.timeline.after(this.#dice.exponential(meanMs), () => {
      if (!this.#stopped) {
        this.begin(meanMs, onlyTopUp);
        this.#act(onlyTopUp ? 0 : this.#dice.fraction());
      }
    });
  }

  stop(): void {
    this.#stopped = true;
  }

  /** `drawn` selects the action. */
  #act(drawn: number): void {
    const customer = this.#dice.pick(this.#world.customers);
    if (this.#world.home === undefined) {
      return;
    }
    if (drawn < 0.6) {
      this.#topUp(customer);
    } else if (drawn < 0.75) {
      this.#refund(customer);
    } else if (drawn < 0.9) {
      this.#changeLimit(customer);
    } else {
      this.#revoke(this.#dice.pick(customer.keys).id);
    }
  }

  #put(facts: LotFacts): void {
    this.#world.truth.opened(facts);
    this.#world.home?.credit(facts);
    this.#paid.push(facts);
  }

  #topUp({ accountId, topUp }: Customer): void {
    this.#payments++;
    const amount = Math.max(1, Math.floor(topUp * (0.2 + this.#dice.fraction())));
    const id = `payment ${this.#payments}`;
    this.#put({ id, purseId: accountId, kind: "money", order: this.#payments, amount });
  }

  #refund({ accountId, topUp }: Customer): void {
    const { home, homeState, truth } = this.#world;
    if (home?.refund(accountId, Math.max(1, Math.floor(topUp * this.#dice.fraction() * 0.5)))) {
      for (const { facts, amount } of homeState.purses.get(accountId) ?? []) {
        const lot = truth.lots.get(facts.id);
        if (lot !== undefined) {
          lot.amount = Math.min(lot.amount, amount);
          lot.now = lot.amount;
        }
      }
    }
  }

  #changeLimit({ limits }: Customer): void {
    const facts = this.#dice.pick(limits);
    const amount = Math.max(1, Math.floor(facts.amount * (0.3 + this.#dice.fraction())));
    this.#limited.set(facts.id, amount);
    this.#setLimit(facts, amount);
  }

  #setLimit({ id, purseId, kind }: LotFacts, amount: number): void {
    const { home, truth } = this.#world;
    const lot = truth.lots.get(id);
    if (lot === undefined) {
      return;
    }
    lot.now = amount;
    if (kind === "rate") {
      truth.limited(purseId, amount);
      lot.amount = amount;
    } else {
      lot.amount = Math.max(lot.amount, amount); // what was lent before may still be spent
    }
    home?.setLimit(id, amount);
  }

  #revoke(keyId: string): void {
    this.#world.history.note(`${keyId} is revoked`);
    this.#revoked.add(keyId);
    this.#world.truth.revoked(keyId);
    this.#world.home?.revoke(keyId);
  }

  /** After a failover: repeats, after a while, acknowledged changes that it lost, as providers and people do. */
  lookBack(): void {
    const { homeState, truth, timeline } = this.#world;
    for (const [id, lot] of truth.lots) {
      const { kind, purseId, amount: paid } = lot.facts;
      const amount = homeState.lots.get(id)?.amount ?? paid;
      if (kind === "rate" && amount !== lot.amount) {
        truth.limited(purseId, amount);
      }
      lot.now = amount;
      lot.amount = Math.max(lot.amount, amount); // a lost refund is money again
    }
    const known = new Set(homeState.revocations.map(({ keyId }) => keyId));
    const lost = [...this.#revoked].filter((keyId) => !known.has(keyId));
    for (const keyId of lost) {
      truth.forget(keyId);
      this.#revoked.delete(keyId);
    }
    timeline.after(tellAgainMs, () => {
      for (const facts of this.#paid) {
        this.#world.home?.credit(facts);
      }
      for (const keyId of this.#world.home === undefined ? [] : lost) {
        this.#revoke(keyId);
      }
    });
  }

  #lookLater(): void {
    this.#world.timeline.after(lookMs, () => {
      this.#look();
      this.#lookLater();
    });
  }

  /** Reads the final state of long silent regions, where possible, and gives up what was lost with its store. */
  #look(): void {
    const { home, homeState, regions, destroyed } = this.#world;
    if (home === undefined || home.process.asleep) {
      return;
    }
    for (const name of home.readable()) {
      const region = regions.find((one) => one.name === name) as Region;
      if (!this.#planned.has(name) && region.store.epoch > 0) {
        this.#planned.add(name);
        this.#world.timeline.after(this.#dice.exponential(readMs), () => this.#read(region));
      }
    }
    for (const { name, unsettled } of homeState.regions.values()) {
      for (const { epoch, store: id } of unsettled) {
        if (destroyed.some(({ store }) => store.id === id)) {
          this.#world.history.note(`${name}: epoch ${epoch} is given up with its store`);
          home.settleEpoch(name, epoch, []);
        }
      }
    }
  }

  #read(region: Region): void {
    this.#planned.delete(region.name);
    const { home, history } = this.#world;
    if (!home?.readable().includes(region.name) || home.process.asleep) {
      return;
    }
    history.note(`${region.name}'s store is read`);
    const { epoch } = region.store;
    home.settleEpoch(region.name, epoch, region.readLastWord(epoch));
  }
}
