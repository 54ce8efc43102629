import type { SimulatedProcess } from "../../world/process.ts";
import type { Exchange, LotFacts, Notice, PurseState } from "../protocol.ts";
import { times } from "../protocol.ts";
import { HomeBooks } from "./books.ts";
import { Lending, type Word } from "./lending.ts";
import { type HomeLot, type HomeRegion, type HomeState, sliceKey } from "./state.ts";

/** How often the home shard looks whose term is over. */
const sweepMs = 500;

export interface HomeParts {
  readonly state: HomeState;
  readonly process: SimulatedProcess;
  readonly send: (notice: Notice) => void;
  readonly note: (what: string) => void;
  /** Is told before money of a purse comes home or in, where so much of it is to be lent. */
  readonly onCome: (purseId: string, lendable: number) => void;
}

/** The process of the home shard: answers exchanges, knows whose term is over, and is touched by no request. */
export class Home {
  readonly state: HomeState;
  readonly process: SimulatedProcess;
  readonly books: HomeBooks;
  readonly #lending: Lending;
  readonly #parts: HomeParts;
  /** Until when each region may admit, and the margin, by this process's monotonic clock. */
  readonly #terms = new Map<string, number>();
  readonly #silentSince = new Map<string, number>();

  constructor(parts: HomeParts) {
    this.#parts = parts;
    this.state = parts.state;
    this.process = parts.process;
    const onCome = (purseId: string) => parts.onCome(purseId, this.books.lendable(purseId));
    this.books = new HomeBooks(parts.state, () => this.#now, onCome);
    this.#lending = new Lending(this.books, () => this.#now);
    // Who was not silent may have had an answer just before this process began.
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

  /** A region reports and asks. */
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

  /** Whether an exchange is of the epoch that counts. A region whose store is new or whose epoch was ended gets another. */
  #enter(region: HomeRegion, { store, epoch, fenced }: Exchange): boolean {
    if (epoch > region.epoch) {
      putAside(region);
      Object.assign(region, { epoch, store }); // a failover has lost that it began
    }
    if (region.store === store) {
      region.unsettled = region.unsettled.filter((old) => old.store !== store); // it tells of all that it ever began
      if (epoch === region.epoch && fenced >= epoch) {
        this.#beginEpoch(region); // a failover has lost that its store was read
      }
    } else if ((epoch === 0 || fenced >= epoch) && region.isSilent) {
      // A late message of a store that is gone may have taken the place of this one, whose last word was read since.
      putAside(region);
      region.store = store;
      this.#beginEpoch(region);
    }
    return epoch === region.epoch;
  }

  /** A region's epoch is over. The number of the next is one that no other generation has given. */
  #beginEpoch(region: HomeRegion): void {
    region.epoch = Math.max(region.epoch, this.state.generation * 1000) + 1;
    this.#parts.note(`home: ${region.name} is to begin epoch ${region.epoch}`);
  }

  /** Takes in reports and statement. Returns the purses to which money came home. */
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

  /** A region has told all that it has, unless some of it was lost with its store. */
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

  /** revocation: the last one that the region is known to have. */
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

  /** Money comes in, or a limit is set. The same again changes nothing. */
  credit(facts: LotFacts): void {
    if (this.books.open(facts)) {
      this.#announce(this.#lending.came([facts.purseId]));
    }
  }

  /** Takes paid money back that is at home. Returns whether it was. */
  refund(purseId: string, amount: number): boolean {
    return this.books.refund(purseId, amount);
  }

  /** A limit gets larger or smaller: what regions have beyond it is called home. */
  setLimit(lotId: string, amount: number): void {
    const lot = this.state.lots.get(lotId);
    if (lot !== undefined) {
      this.books.setAmount(lot, amount);
      const { purseId } = lot.facts;
      this.#announce([...this.#lending.came([purseId]), ...this.#lending.tellAll(purseId)]);
    }
  }

  /** Says to all regions that a key is no more. */
  revoke(keyId: string): void {
    const { revocations, regions } = this.state;
    revocations.push({ number: revocations.length + 1, keyId });
    for (const { name, epoch } of regions.values()) {
      this.#send(name, epoch, [], revocations.length - 1);
    }
  }

  /** Regions whose store may be read: nothing that was admitted before their terms ended can still run. */
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

  /** Whose term and margin are over is silent: what it has is in quarantine, and shares of limits come back. */
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

  /** The last word about an epoch was read where the region kept it, or the operator gave it up: its money is free. */
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

/** A region's epoch is over, and it is not known what became of it. */
function putAside({ epoch, store, unsettled }: HomeRegion): void {
  if (epoch > 0) {
    unsettled.push({ epoch, store });
  }
}
