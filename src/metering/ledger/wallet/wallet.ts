import type { ChargedTokens, FundingState, PicoUsd, Rates } from "../../interface.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import type { ChargeLine, Lease, LeasedSlice } from "../../store/ledger-store.ts";
import { bySpending } from "../../store/spending-order.ts";
import { costOf, type Source, split } from "./split.ts";
import type { WaitQueue } from "./wait-queue.ts";
import { WalletRates } from "./wallet-rates.ts";

/** A wallet of more slices than this gives back all but the first ones. */
const mostSlices = 16;
const keptSlices = 8;

/** A slice while this core spends it. */
interface OpenSlice extends LeasedSlice {
  /** Neither spent nor given back. */
  available: PicoUsd;
  /** Charges to it that are not yet known to be in the store: until they are, it must stay open there. */
  uncommitted: number;
  /** What those charges cost. */
  uncommittedCost: PicoUsd;
}

/** What tokens cost, and who pays. */
export interface Payment {
  readonly lines: ChargeLine[];
  readonly cost: PicoUsd;
  readonly shortfall: PicoUsd;
}

/**
 * The money of one account that this core may spend without asking: its open slices, and how much
 * of them running requests hold. A hold is against the wallet, not against a slice; it is computed
 * at the dearest rates, so the wallet can pay every holder whatever order they end in.
 */
export class Wallet {
  readonly accountId: string;
  /** In open slices, unspent. */
  available: PicoUsd = 0;
  /** The part of it that is promised to running requests. */
  held: PicoUsd = 0;
  /** Unspent money that this core could still lease, when it last looked. */
  unleased = 0n;
  /** What the account owes, as far as this core knows: free money pays it before it is held. */
  debt = 0n;
  /** Unspent money that other cores hold, when this core last looked. */
  elsewhere = 0n;
  /** Requests that wait for this money. */
  readonly queue: WaitQueue;

  // How the wallet is kept filled, which is the business of WalletCache.
  /** A look at the account's money that is under way. */
  refilling: Promise<boolean> | undefined;
  /** Set while the store is asked to move this account's money: resolves when that is over, and never rejects. */
  moving: Promise<void> | undefined;
  /** When it was last looked at, by the monotonic clock. */
  lookedAt = Number.NEGATIVE_INFINITY;
  /** Whether it is known to have changed since. */
  stale = true;
  /** When it was last used, by the monotonic clock. */
  usedAt = 0;
  /** What was last asked for in advance. */
  sliceSize: PicoUsd = 0;

  readonly #rates: WalletRates;
  #slices: OpenSlice[] = [];
  #drained: OpenSlice[] = [];
  readonly #maxRates = new Map<string, Rates>();
  #createdAt = 0;
  #paidTotal = 0n;
  #paidLeft = 0n;
  #paidSpent: PicoUsd = 0;
  #paidUncommitted: PicoUsd = 0;

  constructor(accountId: string, book: PriceBook, queue: WaitQueue) {
    this.accountId = accountId;
    this.#rates = new WalletRates(book);
    this.queue = queue;
  }

  /** What a new request may hold. */
  get free(): PicoUsd {
    return this.available - this.held;
  }

  /** Whether there is a debt and money that could pay it. */
  get canPayDebt(): boolean {
    return this.debt > 0n && (this.free > 0 || this.unleased > 0n);
  }

  get fundingState(): FundingState {
    return {
      createdAt: this.#createdAt,
      paidTotal: this.#paidTotal,
      freeOnly: this.#paidLeft <= BigInt(this.#paidSpent),
    };
  }

  /** Whether nothing runs on this wallet and nothing is on its way into the store. */
  get idle(): boolean {
    const waiting = !this.queue.empty || this.refilling !== undefined || this.moving !== undefined;
    return this.held === 0 && !waiting && ![...this.#slices, ...this.#drained].some((slice) => slice.uncommitted > 0);
  }

  /** Takes in what a look into the store brought. The slices' rates must be known. */
  add(lease: Lease): void {
    this.#createdAt = lease.createdAt;
    this.#paidTotal = lease.paidTotal;
    this.#paidLeft = lease.paidLeft;
    this.#paidSpent = this.#paidUncommitted;
    this.unleased = lease.unleased;
    this.elsewhere = lease.elsewhere;
    this.debt = lease.debt;
    if (lease.slices.length === 0) {
      return;
    }
    for (const slice of lease.slices) {
      this.#slices.push({ ...slice, available: slice.granted - slice.spent, uncommitted: 0, uncommittedCost: 0 });
      this.available += slice.granted - slice.spent;
    }
    this.#slices.sort(byTurn);
    this.#rates.keepOnly(new Set([...this.#slices, ...this.#drained].map(({ priceVersion }) => priceVersion)));
    this.#maxRates.clear();
  }

  /** The highest rates that any of the money here pays. Undefined: they have to be loaded first. */
  maxRates(model: string): Rates | undefined {
    const known = this.#maxRates.get(model);
    if (known !== undefined) {
      return known;
    }
    let input = 0;
    let output = 0;
    for (const slice of this.#slices) {
      const rates = this.#rates.find(slice.priceVersion, model);
      if (rates === undefined) {
        return undefined;
      }
      input = Math.max(input, rates.input);
      output = Math.max(output, rates.output);
    }
    const rates = { input, output };
    this.#maxRates.set(model, rates);
    return rates;
  }

  /** Loads the rates of a model, for all the money here and all that comes later. */
  async loadRates(model: string): Promise<void> {
    await this.#rates.addModel(
      model,
      this.#slices.map(({ priceVersion }) => priceVersion),
    );
  }

  /** Loads the rates of new slices, for all models that are paid from here. */
  async loadRatesOf(slices: readonly LeasedSlice[]): Promise<void> {
    await this.#rates.load(slices.map(({ priceVersion }) => priceVersion));
  }

  /** Whether the rates of slices are loaded for all models that are paid from here. */
  knowsRatesOf(slices: readonly LeasedSlice[]): boolean {
    return this.#rates.know(slices.map(({ priceVersion }) => priceVersion));
  }

  /**
   * Takes what tokens cost out of the free money, in the order of spending. No token costs more than the terms of the
   * request's admission, also where its lot is dearer: that came in later. What the money cannot pay is the shortfall,
   * at those terms. The rates must have been loaded.
   */
  charge(model: string, tokens: ChargedTokens, terms: Rates): Payment {
    const sources = this.#sources(model, Math.max(0, this.free), terms);
    const { parts, unpaid, due } = split(sources, tokens);
    const first = unpaid.inputTokens > 0 ? terms.input : terms.output;
    const shortfall = costOf(unpaid, terms) - (due === undefined ? 0 : first - due);

    const lines: ChargeLine[] = [];
    let paid = 0;
    for (const { source, inputTokens, outputTokens, cost } of parts) {
      const slice = this.#slices[source] as OpenSlice;
      const { rates } = sources[source] as Source;
      slice.available -= cost;
      slice.uncommitted++;
      slice.uncommittedCost += cost;
      this.available -= cost;
      paid += cost;
      if (slice.kind === "paid") {
        this.#countPaid(cost);
      }
      lines.push({
        ...{ sliceId: slice.id, lotId: slice.lotId, inputTokens, outputTokens },
        ...{ inputRate: rates.input, outputRate: rates.output, cost },
      });
    }
    this.#dropDrained();
    return { lines, cost: paid + shortfall, shortfall };
  }

  #sources(model: string, budget: PicoUsd, terms: Rates): Source[] {
    const sources: Source[] = [];
    let left = budget;
    for (const slice of this.#slices) {
      if (left === 0 && sources.length > 0) {
        break;
      }
      const rates = this.#rates.find(slice.priceVersion, model);
      if (rates === undefined) {
        throw new Error(`rates of ${model} in version ${slice.priceVersion} are not loaded`);
      }
      const available = Math.min(slice.available, left);
      const capped = { input: Math.min(rates.input, terms.input), output: Math.min(rates.output, terms.output) };
      sources.push({ available, rates: capped });
      left -= available;
    }
    return sources;
  }

  #countPaid(cost: PicoUsd): void {
    this.#paidSpent += cost;
    this.#paidUncommitted += cost;
  }

  #dropDrained(): void {
    if (!this.#slices.some((slice) => slice.available === 0)) {
      return;
    }
    this.#drained.push(...this.#slices.filter((slice) => slice.available === 0));
    this.#slices = this.#slices.filter((slice) => slice.available > 0);
    this.#maxRates.clear();
  }

  /** Notes that the store has the lines of a charge. */
  committed(lines: readonly ChargeLine[]): void {
    for (const line of lines) {
      const slice = this.#find(line.sliceId);
      if (slice === undefined) {
        continue;
      }
      slice.uncommitted--;
      slice.uncommittedCost -= line.cost;
      if (slice.kind === "paid") {
        this.#paidUncommitted -= line.cost;
      }
    }
  }

  /** Takes back lines that the store did not want. */
  revert(lines: readonly ChargeLine[]): void {
    this.committed(lines);
    for (const line of lines) {
      const slice = this.#find(line.sliceId);
      if (slice === undefined) {
        continue;
      }
      if (slice.kind === "paid") {
        this.#paidSpent -= line.cost;
      }
      if (slice.available === 0) {
        this.#drained = this.#drained.filter((other) => other !== slice);
        if (!this.#slices.includes(slice)) {
          this.#slices.push(slice);
        }
        this.#slices.sort(byTurn);
        this.#maxRates.clear();
      }
      slice.available += line.cost;
      this.available += line.cost;
    }
  }

  get sliceIds(): string[] {
    return [...this.#slices, ...this.#drained].map((slice) => slice.id);
  }

  /** The most that the store may say is unspent in each slice: less by what it has taken of the charges under way. */
  unspent(): Map<string, PicoUsd> {
    return new Map(
      [...this.#slices, ...this.#drained].map((slice) => [slice.id, slice.available + slice.uncommittedCost]),
    );
  }

  /** Corrects slices of which the store has less than is believed here. Returns by how much altogether. */
  lower(unspent: ReadonlyMap<string, PicoUsd>): PicoUsd {
    let excess = 0;
    for (const slice of this.#slices) {
      const less = Math.max(0, slice.available - (unspent.get(slice.id) ?? slice.available));
      slice.available -= less;
      excess += less;
    }
    this.available -= excess;
    if (excess > 0) {
      this.#dropDrained();
    }
    return excess;
  }

  /** Forgets slices that turned out to belong to this core no longer. */
  lose(sliceIds: ReadonlySet<string>): void {
    for (const slice of this.#slices) {
      if (sliceIds.has(slice.id)) {
        this.available -= slice.available;
      }
    }
    this.#slices = this.#slices.filter((slice) => !sliceIds.has(slice.id));
    this.#drained = this.#drained.filter((slice) => !sliceIds.has(slice.id));
    this.#maxRates.clear();
  }

  /** Takes out money that nobody holds, of the last lots first: all of it, or only what the choice takes. */
  takeFree(choose: (slice: LeasedSlice) => boolean = () => true): { sliceId: string; amount: PicoUsd }[] {
    const parts: { sliceId: string; amount: PicoUsd }[] = [];
    let free = Math.max(0, this.free);
    for (const slice of this.#slices.toReversed()) {
      const amount = choose(slice) ? Math.min(free, slice.available) : 0;
      if (amount === 0) {
        continue;
      }
      slice.available -= amount;
      this.available -= amount;
      free -= amount;
      parts.push({ sliceId: slice.id, amount });
    }
    this.#dropDrained();
    return parts;
  }

  /** Takes out the free money of all slices but the first ones: a wallet need not hold a thousand lots. */
  takeSurplus(): { sliceId: string; amount: PicoUsd }[] {
    if (this.#slices.length <= mostSlices) {
      return [];
    }
    const surplus = new Set<LeasedSlice>(this.#slices.slice(keptSlices));
    return this.takeFree((slice) => surplus.has(slice));
  }

  /** Takes out the money of lots that have expired, as far as nobody holds it. */
  takeExpired(now: number): { sliceId: string; amount: PicoUsd }[] {
    return this.takeFree((slice) => isExpired(slice, now));
  }

  /** Whether a lot has expired of which nobody holds some money. */
  hasExpired(now: number): boolean {
    return this.free > 0 && this.#slices.some((slice) => isExpired(slice, now));
  }

  /** Takes out slices that are used up and whose charges are all stored, to be closed. */
  takeDrained(): string[] {
    if (this.#drained.length === 0) {
      return [];
    }
    const ids = this.#drained.filter((slice) => slice.uncommitted === 0).map((slice) => slice.id);
    if (ids.length > 0) {
      this.#drained = this.#drained.filter((slice) => slice.uncommitted > 0);
    }
    return ids;
  }

  /** Takes out all slices, to be closed. What is held stays held, of whatever comes next. */
  takeAll(): string[] {
    const ids = this.sliceIds;
    this.#slices = [];
    this.#drained = [];
    this.available = 0;
    this.#maxRates.clear();
    return ids;
  }

  #find(sliceId: string): OpenSlice | undefined {
    return this.#slices.find((slice) => slice.id === sliceId) ?? this.#drained.find((slice) => slice.id === sliceId);
  }
}

function isExpired({ expiresAt }: LeasedSlice, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/** In the order in which they are spent; of one lot, what was leased first. */
function byTurn(a: LeasedSlice, b: LeasedSlice): number {
  return bySpending(a, b) || (a.id < b.id ? -1 : 1);
}
