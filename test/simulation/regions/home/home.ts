import type { SimulatedProcess } from "../../world/process.ts";
import type { Exchange, LotFacts, Notice, PurseState } from "../protocol.ts";
import { times } from "../protocol.ts";
import { HomeBooks } from "./books.ts";
import { Lending, type Word } from "./lending.ts";
import { type HomeLot, type HomeRegion, type HomeState, sliceKey } from "./state.ts";

/** Milliseconds between two checks for terms that are over. */
const sweepMs = 500;

export interface HomeParts {
  readonly state: HomeState;
  readonly process: SimulatedProcess;
  readonly send: (notice: Notice) => void;
  readonly note: (what: string) => void;
  /** Called before money of a purse is returned or comes in. `lendable` is what may be lent then. */
  readonly onCome: (purseId: string, lendable: number) => void;
}

/** The process of the home shard. Answers exchanges and knows which terms are over. No request reaches it. */
export class Home {
  readonly state: HomeState;
  readonly process: SimulatedProcess;
  readonly books: HomeBooks;
  readonly #lending: Lending;
  readonly #parts: HomeParts;
  /** Until when each region may admit, plus the margin, by this process's monotonic clock. */
  readonly #terms = new Map<string, number>();
  readonly #silentSince = new Map<string, number>();

  constructor(parts: HomeParts) {
    this.#parts = parts;
    this.state = parts.state;
    this.process = parts.process;
    const onCome = (purseId: string) => parts.onCome(purseId, this.books.lendable(purseId));
    this.books = new HomeBooks(parts.state, () => this.#now, onCome);
    this.#lending = new Lending(this.books, () => this.#now);
    // A region that was not silent may have had an answer just before this process started.
    for (const { name, isSilent } of this.state.regions.values()) {
      if (isSilent) {
        this.#silentSince.set(name, this.#now);
      } else {
        this.#renew(name);
      }
    }
    this.#sweepLater();
  }

  get #now(): number {
    return this.process.monotonic();
  }

  #renew(region: string): void {
    this.#terms.set(region, this.#now + times.term + times.margin);
  }

  /** Takes a region's report and its wishes. */
  hear(exchange: Exchange): void {
    const region = this.state.regions.get(exchange.region);
    if (region === undefined) {
      return;
    }
    const came = this.#report(exchange);
    if (!this.#enter(region, exchange)) {
      if (exchange.store === region.store) {
        this.#tell(region, exchange, []);
      }
      this.#announce(this.#lending.came(came));
      return;
    }
    region.isSilent = false;
    this.#silentSince.delete(region.name);
    this.#renew(region.name);
    if (exchange.isFull && exchange.generation === this.state.generation) {
      this.#heard(region, came);
    }
    const served = this.#lending.came(came);
    const words = exchange.wishes.flatMap((wish) => this.#lending.grant(region.name, region.epoch, wish));
    const mine = words.filter((word) => word.region === region.name).map(({ purse }) => purse);
    this.#tell(region, exchange, mine);
    this.#announce([...served, ...words.filter((word) => word.region !== region.name)]);
  }

  /** Whether an exchange is of the region's current epoch. A new store, or an ended epoch, gets another one. */
  #enter(region: HomeRegion, { store, epoch, fenced }: Exchange): boolean {
    if (epoch > region.epoch) {
      putAside(region);
      Object.assign(region, { epoch, store }); // a failover lost that the epoch began
    }
    if (region.store === store) {
      region.unsettled = region.unsettled.filter((old) => old.store !== store); // it reports all epochs that it began
      if (epoch === region.epoch && fenced >= epoch) {
        this.#beginEpoch(region); // a failover lost that its store was read
      }
    } else if ((epoch === 0 || fenced >= epoch) && region.isSilent) {
      // A late message from a vanished store may have replaced this one, whose final state was read since.
      putAside(region);
      region.store = store;
      this.#beginEpoch(region);
    }
    return epoch === region.epoch;
  }

  /** Ends a region's epoch. The next epoch has a number that no other generation has given. */
  #beginEpoch(region: HomeRegion): void {
    region.epoch = Math.max(region.epoch, this.state.generation * 1000) + 1;
    this.#parts.note(`home: ${region.name} is to begin epoch ${region.epoch}`);
  }

  /** Takes reports and statement. Returns the purses to which money was returned. */
  #report({ region, reports, statement }: Exchange): Set<string> {
    const came = new Set<string>();
    for (const report of reports) {
      if (this.books.take(region, report)) {
        came.add(report.lot.purseId);
      }
    }
    if (statement !== undefined) {
      const key = sliceKey(region, statement.epoch);
      if ((this.state.statements.get(key)?.number ?? 0) < statement.number) {
        this.state.statements.set(key, statement);
      }
    }
    return came;
  }

  /** The region has reported everything that it has, unless some of it was lost with its store. */
  #heard({ name, unsettled }: HomeRegion, came: Set<string>): void {
    if (unsettled.length === 0 && this.state.unheard.delete(name) && !this.books.inDoubt) {
      this.#parts.note("home: all that was lent is known again");
      for (const purseId of this.state.purses.keys()) {
        came.add(purseId);
      }
    }
  }

  #tell({ name, epoch }: HomeRegion, { number, revocation }: Exchange, purses: readonly PurseState[]): void {
    const over = this.books.overlent(name, epoch).map((purseId) => this.#lending.call(name, purseId));
    this.#send(name, epoch, [...purses, ...over], revocation, number);
  }

  #announce(words: readonly Word[]): void {
    for (const [name, of] of Map.groupBy(words, ({ region }) => region)) {
      const region = this.state.regions.get(name);
      if (region !== undefined) {
        const purses = of.map(({ purse }) => purse);
        this.#send(name, region.epoch, purses, this.state.revocations.length);
      }
    }
  }

  /** `revocation` is the last one that the region is known to have. */
  #send(region: string, epoch: number, purses: readonly PurseState[], revocation: number, answers?: number): void {
    if (!this.process.act()) {
      return;
    }
    const { generation, revocations } = this.state;
    const unseen = revocations.filter((one) => one.number > revocation);
    const grants = [...this.books.unconfirmed(region, epoch)].map(({ lotId, granted }) => ({
      ...(this.state.lots.get(lotId) as HomeLot).facts,
      granted,
    }));
    const store = this.state.regions.get(region)?.store ?? "";
    const notice = { region, store, epoch, generation, grants, purses, revocations: unseen };
    this.#parts.send(answers === undefined ? notice : { ...notice, answers });
  }

  /** Money comes in, or a limit is set. Repeating it changes nothing. */
  credit(facts: LotFacts): void {
    if (this.books.open(facts)) {
      this.#announce(this.#lending.came([facts.purseId]));
    }
  }

  /** Takes unlent paid money back. Returns whether there was enough. */
  refund(purseId: string, amount: number): boolean {
    return this.books.refund(purseId, amount);
  }

  /** Changes a limit. What regions have beyond it is called back. */
  setLimit(lotId: string, amount: number): void {
    const lot = this.state.lots.get(lotId);
    if (lot !== undefined) {
      this.books.setAmount(lot, amount);
      const { purseId } = lot.facts;
      this.#announce([...this.#lending.came([purseId]), ...this.#lending.tellAll(purseId)]);
    }
  }

  /** Tells all regions that a key is revoked. */
  revoke(keyId: string): void {
    const { revocations, regions } = this.state;
    revocations.push({ number: revocations.length + 1, keyId });
    for (const { name, epoch } of regions.values()) {
      this.#send(name, epoch, [], revocations.length - 1);
    }
  }

  /** Regions whose store may be read: nothing admitted before their terms ended can still run. */
  readable(): string[] {
    const { regions } = this.state;
    return [...this.#silentSince].flatMap(([name, since]) => {
      const isOver = this.#now - since >= times.longestRun + times.margin;
      return isOver && regions.get(name)?.isSilent ? [name] : [];
    });
  }

  #sweepLater(): void {
    this.process.after(sweepMs, () => {
      this.#sweep();
      this.#sweepLater();
    });
  }

  /**
   * Marks regions as silent whose term and margin are over: their money is in quarantine, and shares of limits return.
   */
  #sweep(): void {
    for (const region of this.state.regions.values()) {
      if (!region.isSilent && this.#now >= (this.#terms.get(region.name) ?? 0)) {
        region.isSilent = true;
        this.#silentSince.set(region.name, this.#now);
        this.#parts.note(`home: ${region.name} is silent`);
        this.books.close(region.name, region.epoch, ({ facts }) => facts.kind === "rate");
      }
    }
  }

  /** The final state of an epoch was read from the region's store, or the operator gave it up: its money is free. */
  settleEpoch(name: string, epoch: number, reports: Exchange["reports"]): void {
    for (const report of reports) {
      this.books.take(name, report);
    }
    this.books.close(name, epoch);
    const region = this.state.regions.get(name) as HomeRegion;
    region.unsettled = region.unsettled.filter((other) => other.epoch !== epoch);
    if (region.epoch === epoch) {
      this.#beginEpoch(region);
    }
    const came = new Set(this.state.purses.keys());
    this.#heard(region, came);
    this.#announce(this.#lending.came(came));
  }
}

/** A region's epoch is over, and its final state is unknown. */
function putAside({ epoch, store, unsettled }: HomeRegion): void {
  if (epoch > 0) {
    unsettled.push({ epoch, store });
  }
}
