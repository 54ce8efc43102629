import type { KeyObject } from "node:crypto";
import type { SimulatedProcess } from "../../world/process.ts";
import type { Exchange, LotFacts, Notice, PurseState, SliceReport, Statement, Wish } from "../protocol.ts";
import { times } from "../protocol.ts";
import { BankPurse } from "./purse.ts";
import { signStatement } from "./statements.ts";
import type { BankSlice, RegionStore } from "./store.ts";
import { Term } from "./term.ts";

export interface BankParts {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly store: RegionStore;
  readonly key: KeyObject;
  /** The world's time, for statements. */
  readonly worldNow: () => number;
  readonly send: (exchange: Exchange) => void;
  readonly note: (what: string) => void;
  /** What waiting requests need from a purse. That much stays, even when money is short. */
  readonly awaited: (purse: BankPurse) => number;
  /** Called when a purse has more than before, or is known to have no more. */
  readonly onChange: (purse: BankPurse) => void;
}

const tickMs = 1000;
/** More exchanges than a process makes in its life. */
const mostExchanges = 1_000_000_000;

/** The process of the regional bank. Keeps purses filled by exchanges with the home shard, and returns unused money. */
export class Bank {
  readonly store: RegionStore;
  readonly process: SimulatedProcess;
  readonly term: Term;
  readonly purses = new Map<string, BankPurse>();
  readonly #parts: BankParts;
  readonly #wishes = new Map<string, Wish>();
  /** When each unanswered exchange was sent, by its number. */
  readonly #sent = new Map<number, number>();
  /** The number of the next exchange. */
  #number: number;
  /** The home shard knows all changes told in exchanges up to this number. */
  #told = 0;
  /** Answers to earlier exchanges are ignored: the home shard may have forgotten what they reported. */
  #firstThatCounts = 0;
  #generation = 0;
  #revocation = 0;
  #soon = false;
  #sentAt = Number.NEGATIVE_INFINITY;
  #statedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: BankParts) {
    this.#parts = parts;
    this.store = parts.store;
    this.process = parts.process;
    this.term = new Term(() => parts.process.monotonic());
    // Answers to an earlier process are ignored.
    this.#number = ++this.store.starts * mostExchanges;
    for (const slice of this.store.slices.values()) {
      slice.changedIn = this.#number;
      this.purse(slice.lot.purseId, slice.lot.kind).add(slice);
    }
    // It is unknown which permits of the last minute were used.
    this.#dropShares();
    this.soon();
    this.#tickLater();
  }

  get #now(): number {
    return this.process.monotonic();
  }

  /** The number of the exchange that will report current changes. */
  get number(): number {
    return this.#number;
  }

  purse(id: string, kind: BankPurse["kind"]): BankPurse {
    let purse = this.purses.get(id);
    if (purse === undefined) {
      purse = new BankPurse(id, kind);
      this.purses.set(id, purse);
    }
    return purse;
  }

  /** Drops shares of limits, which end with the term: the home shard lends them again. */
  #dropShares(): void {
    for (const { kind, slices } of this.purses.values()) {
      for (const slice of kind === "rate" ? slices : []) {
        slice.returned = slice.granted;
        slice.changedIn = this.#number;
      }
    }
  }

  /** Asks for more of a purse than is free: what the first waiting request lacks, and what all waiting ones do. */
  need(purse: BankPurse, missing: number, queue = missing): void {
    const granted = purse.grantedIn(this.store.epoch);
    const wish = {
      ...{ purseId: purse.id, leastTo: granted + missing, queueTo: granted + queue },
      mostTo: granted + purse.wish(queue),
    };
    this.#wishes.set(purse.id, wish);
    const isUnderWay = purse.wishedTo >= wish.queueTo && this.#now - purse.wishedAt < times.retry;
    if (!isUnderWay) {
      purse.wishedTo = wish.queueTo;
      purse.wishedAt = this.#now;
      this.soon();
    }
  }

  /** Exchanges after a short delay, with all changes until then. */
  soon(): void {
    if (!this.#soon) {
      this.#soon = true;
      this.process.after(times.linger, () => this.#exchange());
    }
  }

  #exchange(): void {
    this.#soon = false;
    if (!this.process.act()) {
      return;
    }
    const { epoch, slices } = this.store;
    const number = this.#number++;
    this.#sentAt = this.#now;
    this.#sent.set(number, this.#now);
    const reports: SliceReport[] = [];
    for (const slice of slices.values()) {
      if (slice.changedIn > this.#told) {
        reports.push(toReport(slice));
      }
    }
    const wishes = [...this.#wishes.values()];
    this.#wishes.clear();
    this.#parts.send({
      ...{ region: this.#parts.name, epoch, generation: this.#generation, number, isFull: this.#told === 0, reports },
      ...{
        wishes,
        store: this.store.id,
        fenced: this.store.fencedUpTo,
        revocation: this.#revocation,
        statement: this.#state(),
      },
    });
  }

  /** Signs all slices of this epoch, from time to time. Undefined: not due. */
  #state(): Statement | undefined {
    const { epoch, slices } = this.store;
    if (this.#now - this.#statedAt < times.statement || epoch === 0) {
      return undefined;
    }
    this.#statedAt = this.#now;
    const rows = [...slices.values()]
      .filter((slice) => slice.epoch === epoch)
      .map(({ lot, granted, spent, returned }) => ({ lotId: lot.id, granted, spent, returned }));
    const number = ++this.store.statements;
    const { name: region, key, worldNow } = this.#parts;
    return signStatement({ region, epoch, number, at: worldNow(), rows }, key);
  }

  /** Takes a notice from the home shard. Notices of earlier generations are ignored. */
  hear(notice: Notice): void {
    if (notice.store !== this.store.id || notice.generation < this.#generation) {
      return;
    }
    if (notice.generation > this.#generation) {
      this.#generation = notice.generation;
      this.#told = 0; // the home shard may have forgotten anything
      this.#revocation = 0;
      this.#firstThatCounts = this.#number;
      this.soon();
    }
    this.#hearRevocations(notice);
    if (notice.epoch > this.store.epoch) {
      this.#begin(notice.epoch);
      return;
    }
    if (notice.epoch < this.store.epoch || notice.epoch <= this.store.fencedUpTo) {
      return;
    }
    this.#hearAnswer(notice);
    for (const grant of notice.grants) {
      this.#grant(grant, grant.granted);
    }
    for (const state of notice.purses) {
      const purse = this.purses.get(state.purseId);
      if (purse !== undefined) {
        this.#hearState(purse, state);
      }
    }
  }

  #hearRevocations({ revocations, answers }: Notice): void {
    for (const { keyId, number } of revocations) {
      this.store.revoked.add(keyId);
      const isAnswer = answers !== undefined && answers >= this.#firstThatCounts;
      this.#revocation = isAnswer ? Math.max(this.#revocation, number) : this.#revocation;
    }
  }

  #hearAnswer({ answers }: Notice): void {
    const sentAt = answers === undefined ? undefined : this.#sent.get(answers);
    if (answers === undefined || sentAt === undefined || answers < this.#firstThatCounts) {
      return;
    }
    if (!this.term.isValid) {
      this.#dropShares();
    }
    this.term.renew(sentAt);
    this.#told = Math.max(this.#told, answers);
    for (const number of this.#sent.keys()) {
      if (number <= answers) {
        this.#sent.delete(number);
      }
    }
  }

  #grant(lot: LotFacts, granted: number): void {
    const { epoch, slices } = this.store;
    const key = `${epoch}/${lot.id}`;
    let slice = slices.get(key);
    const purse = this.purse(lot.purseId, lot.kind);
    if (slice === undefined) {
      const { id, purseId, kind, order, amount } = lot;
      slice = { lot: { id, purseId, kind, order, amount }, epoch, granted: 0, spent: 0, returned: 0, changedIn: 0 };
      slices.set(key, slice);
      purse.add(slice);
    }
    slice.changedIn = this.#number; // even when nothing is new: the home shard waits for a confirmation
    if (granted > slice.granted) {
      slice.granted = granted;
      purse.dryUntil = Number.NEGATIVE_INFINITY;
      this.#parts.onChange(purse);
    }
  }

  #hearState(purse: BankPurse, { isPoor, elsewhere, excess }: PurseState): void {
    purse.isPoor = isPoor;
    purse.elsewhere = elsewhere;
    purse.excess = excess;
    purse.dryUntil = elsewhere > 0 ? Number.NEGATIVE_INFINITY : this.#now + times.dry;
    this.#parts.onChange(purse);
    this.tidy(purse);
  }

  /**
   * Returns at once what should not stay: everything unneeded when money is short, and slices of epochs that are over.
   */
  tidy(purse: BankPurse): void {
    this.#keep(purse, purse.isPoor ? this.#parts.awaited(purse) : Number.POSITIVE_INFINITY);
  }

  /** Begins another epoch: held money of the old epoch ends in it, and the rest is returned. */
  #begin(epoch: number): void {
    this.#parts.note(`${this.#parts.name} begins epoch ${epoch}`);
    this.store.epoch = epoch;
    this.#sent.clear();
    for (const purse of this.purses.values()) {
      purse.wishedTo = 0;
      this.tidy(purse);
    }
    this.soon();
  }

  #tickLater(): void {
    this.process.after(tickMs, () => {
      this.#tick();
      this.#tickLater();
    });
  }

  #tick(): void {
    // A region that is cut off keeps its money: nobody could use what it returned before it is heard again.
    const isHeard = this.term.isHeard(2 * times.beat);
    for (const purse of this.purses.values()) {
      purse.tick(this.#now);
      if (purse.excess > 0) {
        this.#keep(purse, Number.POSITIVE_INFINITY);
      }
      this.#fit(purse, isHeard);
    }
    const sinceSent = this.#now - this.#sentAt;
    const isUnanswered = this.#sent.size > 0;
    if (sinceSent >= times.beat || (isUnanswered && sinceSent >= times.retry)) {
      this.soon();
    }
  }

  /** Adapts a purse to its spending: asks for more before it runs short, and returns what is too much or unused. */
  #fit(purse: BankPurse, isHeard: boolean): void {
    const isIdle = this.#now - purse.usedAt > (purse.kind === "rate" ? times.sureMinute + times.idle : times.idle);
    const enough = purse.wish(0);
    if (!isIdle && purse.isLow && !purse.isPoor && this.#now >= purse.dryUntil) {
      this.need(purse, 1);
    } else if (isHeard && isIdle) {
      this.#keep(purse, 0);
    } else if (isHeard && purse.kind !== "rate" && purse.free > 3 * enough) {
      this.#keep(purse, enough);
    }
  }

  #keep(purse: BankPurse, keep: number): void {
    if (purse.giveBack(keep, this.store.epoch, this.#number)) {
      purse.dryUntil = Number.NEGATIVE_INFINITY; // there may be money again
      this.soon();
    }
  }
}

function toReport({ lot, epoch, granted, spent, returned }: BankSlice): SliceReport {
  return { lot, epoch, granted, spent, returned };
}
