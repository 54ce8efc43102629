import type { LotFacts, SliceReport } from "../protocol.ts";
import { times } from "../protocol.ts";
import { type HomeLot, type HomeSlice, type HomeState, sliceKey } from "./state.ts";

/** The lots and slices of the home shard: money comes in, is lent, is reported and is returned. */
export class HomeBooks {
  readonly state: HomeState;
  readonly #now: () => number;
  readonly #onCome: (purseId: string) => void;
  /** Slices of which the region has not confirmed all grants, by region and epoch. */
  readonly #unconfirmed = new Map<string, Set<HomeSlice>>();
  /** Lots that were reduced, until no more of them is lent than there is. */
  readonly #lowered = new Set<string>();
  /** Spending of a slice after it was ended: no money stands behind it, so the account owes it. */
  owed = 0;

  /** `onCome` is called before money of a purse is returned or comes in. */
  constructor(state: HomeState, now: () => number, onCome: (purseId: string) => void = () => {}) {
    this.state = state;
    this.#now = now;
    this.#onCome = onCome;
    for (const lot of state.lots.values()) {
      if (lot.lent > lot.amount) {
        this.#lowered.add(lot.facts.id);
      }
      // Times of an earlier process mean nothing on this one's clock.
      lot.cooling = lot.cooling.map(({ amount }) => ({ amount, until: now() + times.sureMinute }));
      for (const slice of lot.slices.values()) {
        this.#noteConfirmed(slice);
      }
    }
  }

  #noteConfirmed(slice: HomeSlice): void {
    const key = sliceKey(slice.region, slice.epoch);
    const found = this.#unconfirmed.get(key) ?? new Set();
    if (slice.confirmed < slice.granted && !slice.isClosed) {
      this.#unconfirmed.set(key, found.add(slice));
    } else {
      found.delete(slice);
    }
  }

  /** The slices of a region's epoch to report to it again: each grant until it was confirmed. */
  unconfirmed(region: string, epoch: number): Iterable<HomeSlice> {
    return this.#unconfirmed.get(sliceKey(region, epoch)) ?? [];
  }

  /** Adds a lot, unless it exists. Returns whether it was new. */
  open(facts: LotFacts): boolean {
    const { lots, purses } = this.state;
    if (lots.has(facts.id)) {
      return false;
    }
    this.#onCome(facts.purseId);
    const lot: HomeLot = { facts, amount: facts.amount, lent: 0, slices: new Map(), cooling: [] };
    lots.set(facts.id, lot);
    const purse = purses.get(facts.purseId) ?? [];
    purse.push(lot);
    purse.sort((a, b) => a.facts.order - b.facts.order);
    purses.set(facts.purseId, purse);
    return true;
  }

  lotsOf(purseId: string): readonly HomeLot[] {
    return this.state.purses.get(purseId) ?? [];
  }

  /** What may be lent of a lot now. */
  unleased(lot: HomeLot): number {
    if (lot.cooling.length > 0) {
      lot.cooling = lot.cooling.filter(({ until }) => until > this.#now());
    }
    const cooling = lot.cooling.reduce((sum, { amount }) => sum + amount, 0);
    return Math.max(0, lot.amount - lot.lent - cooling);
  }

  /** What may be lent of a purse now. Nothing while it is unknown what was lent before a failover. */
  lendable(purseId: string): number {
    if (this.inDoubt) {
      return 0;
    }
    return this.lotsOf(purseId).reduce((sum, lot) => sum + this.unleased(lot), 0);
  }

  /** True while a failover may have lost grants that some region has. */
  get inDoubt(): boolean {
    return this.state.unheard.size > 0;
  }

  /** What was granted to a region in its epoch, of all lots of a purse. */
  grantedTo(region: string, epoch: number, purseId: string): number {
    const key = sliceKey(region, epoch);
    return this.lotsOf(purseId).reduce((sum, { slices }) => sum + (slices.get(key)?.granted ?? 0), 0);
  }

  /** Money of a purse in other regions that may still be returned by itself. */
  lentElsewhere(region: string, purseId: string): number {
    let sum = 0;
    for (const { slices } of this.lotsOf(purseId)) {
      for (const slice of slices.values()) {
        if (slice.region !== region && !slice.isClosed && !this.isSilent(slice.region)) {
          sum += slice.granted - slice.spent - slice.returned;
        }
      }
    }
    return sum;
  }

  isSilent(region: string): boolean {
    return this.state.regions.get(region)?.isSilent ?? true;
  }

  /** Lends money of a purse to a region, in spending order. */
  lend(region: string, epoch: number, purseId: string, amount: number): void {
    let left = amount;
    for (const lot of this.lotsOf(purseId)) {
      const part = Math.min(left, this.unleased(lot));
      if (part > 0) {
        const slice = this.slice(lot, region, epoch);
        slice.granted += part;
        lot.lent += part;
        left -= part;
        this.#noteConfirmed(slice);
      }
    }
  }

  slice(lot: HomeLot, region: string, epoch: number): HomeSlice {
    const key = sliceKey(region, epoch);
    let slice = lot.slices.get(key);
    if (slice === undefined) {
      const { id } = lot.facts;
      slice = { region, epoch, lotId: id, granted: 0, spent: 0, returned: 0, confirmed: 0, isClosed: false };
      lot.slices.set(key, slice);
    }
    return slice;
  }

  /** Takes a region's report about a slice: the larger number is the later one. Returns whether money was returned. */
  take(region: string, report: SliceReport): boolean {
    this.open(report.lot);
    const lot = this.state.lots.get(report.lot.id) as HomeLot;
    const slice = this.slice(lot, region, report.epoch);
    if (slice.isClosed) {
      this.owed += Math.max(0, report.spent - slice.spent);
      slice.spent = Math.max(slice.spent, report.spent);
      return false;
    }
    const returned = this.#grow(slice, report);
    slice.confirmed = Math.max(slice.confirmed, report.granted);
    this.#noteConfirmed(slice);
    this.#come(lot, returned);
    return returned > 0;
  }

  /** Raises counters to the reported values. Returns how much was returned. */
  #grow(slice: HomeSlice, { granted, spent, returned }: SliceReport): number {
    const lot = this.state.lots.get(slice.lotId) as HomeLot;
    lot.lent += Math.max(0, granted - slice.granted);
    slice.granted = Math.max(slice.granted, granted);
    slice.spent = Math.max(slice.spent, spent);
    const more = Math.max(0, returned - slice.returned);
    slice.returned += more;
    return more;
  }

  #come(lot: HomeLot, returned: number): void {
    if (returned > 0) {
      this.#onCome(lot.facts.purseId);
    }
    lot.lent -= returned;
    if (lot.facts.kind === "rate" && returned > 0) {
      lot.cooling.push({ until: this.#now() + times.sureMinute, amount: returned });
    }
  }

  /** Ends all slices of an epoch whose final state is known: unspent money is free. */
  close(region: string, epoch: number, only?: (lot: HomeLot) => boolean): void {
    const key = sliceKey(region, epoch);
    for (const lot of this.state.lots.values()) {
      const slice = lot.slices.get(key);
      if (slice !== undefined && !slice.isClosed && (only?.(lot) ?? true)) {
        const rest = slice.granted - slice.spent - slice.returned;
        slice.returned += rest;
        slice.isClosed = only === undefined;
        this.#noteConfirmed(slice);
        this.#come(lot, rest);
      }
    }
  }

  /** Purses of which the region has money, and of which more is lent than there is since a limit was reduced. */
  overlent(region: string, epoch: number): string[] {
    const key = sliceKey(region, epoch);
    const found: string[] = [];
    for (const id of this.#lowered) {
      const lot = this.state.lots.get(id);
      if (lot === undefined || lot.lent <= lot.amount) {
        this.#lowered.delete(id);
      } else if (lot.slices.has(key)) {
        found.push(lot.facts.purseId);
      }
    }
    return found;
  }

  /** A region's part of the shares lent beyond a reduced limit. */
  excess(region: string, purseId: string): number {
    let sum = 0;
    for (const { facts, amount, lent, slices } of this.lotsOf(purseId)) {
      for (const slice of facts.kind === "rate" && lent > amount ? slices.values() : []) {
        const left = slice.granted - slice.spent - slice.returned;
        sum += slice.region === region && !slice.isClosed ? Math.ceil(((lent - amount) * left) / lent) : 0;
      }
    }
    return sum;
  }

  /** Changes a limit. */
  setAmount(lot: HomeLot, amount: number): void {
    this.#onCome(lot.facts.purseId);
    lot.amount = amount;
    this.#lowered.add(lot.facts.id);
  }

  /** Removes unspent money from a purse for good, from the last lots first. Returns whether there was enough. */
  refund(purseId: string, amount: number): boolean {
    if (this.lendable(purseId) < amount) {
      return false;
    }
    let left = amount;
    for (const lot of this.lotsOf(purseId).toReversed()) {
      const part = Math.min(left, this.unleased(lot));
      lot.amount -= part;
      left -= part;
    }
    return true;
  }
}
