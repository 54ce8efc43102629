import type { KeyObject } from "node:crypto";
import type { History } from "../../world/history.ts";
import type { Timeline } from "../../world/timeline.ts";
import type { Exchange, Notice } from "../protocol.ts";
import { times } from "../protocol.ts";
import type { Request, Truth } from "../truth.ts";
import { Bank } from "./bank.ts";
import { type BankPurse, bySpending, spend } from "./purse.ts";
import { RegionProcess } from "./region-process.ts";
import { type BankSlice, RegionStore } from "./store.ts";

export interface RegionParts {
  readonly timeline: Timeline;
  readonly history: History;
  readonly truth: Truth;
  readonly key: KeyObject;
  readonly send: (exchange: Exchange) => void;
  /** Milliseconds after which a revoked key is refused, with or without the home shard. Absent: when the term ends. */
  readonly revocationMs: number | undefined;
}

/** Milliseconds between two notes of a running request's cost. */
const noteMs = 1000;
/** A request may be cut to this part of its worst case when there is no more money. */
const leastPart = 0.1;

/**
 * A region: a store, a bank and requests. All cores are modelled as one. What a request holds and costs is taken from
 * the bank's purses; its journal entry and its receipt are written to the store.
 */
export class Region {
  readonly name: string;
  /** The rate of its clocks from its next start on. */
  rate = 1;
  store: RegionStore;
  bank: Bank | undefined;
  readonly #parts: RegionParts;
  readonly #waiting = new Map<string, Request[]>();
  #process: RegionProcess | undefined;

  constructor(name: string, parts: RegionParts) {
    this.name = name;
    this.store = new RegionStore(`${name}'s store`);
    this.#parts = parts;
  }

  get process(): RegionProcess | undefined {
    return this.#process;
  }

  /** Starts the region, unless it runs: charges what the journal has, then starts the bank. */
  start(): void {
    if (this.#process?.alive) {
      return;
    }
    const { timeline, history } = this.#parts;
    const process = new RegionProcess(this.name, timeline, { offsetMs: 0, rate: this.rate });
    this.#process = process;
    this.#waiting.clear();
    this.recover();
    history.note(`${this.name} starts`);
    this.bank = new Bank({
      ...{ name: this.name, process, store: this.store, key: this.#parts.key, send: this.#parts.send },
      worldNow: () => timeline.now,
      note: (what) => history.note(what),
      awaited: (purse) => this.#awaited(purse.id),
      onChange: (purse) => this.#serve(purse),
    });
    process.onDeath(() => {
      this.bank = undefined;
      history.note(`${this.name} is dead`);
    });
  }

  kill(): void {
    this.#process?.kill();
  }

  hear(notice: Notice): void {
    this.#process?.reach(() => this.bank?.hear(notice));
  }

  /** Charges what ran when the region died, as far as its journal knows. */
  recover(): void {
    for (const { requestId, purses, cost } of this.store.journal.values()) {
      this.#charge(requestId, purses, cost);
    }
  }

  /** Reads the final state of an epoch. What the journal of a dead region has is charged before. */
  readLastWord(epoch: number): BankSlice[] {
    if (!this.#process?.alive) {
      this.recover();
    }
    return this.store.fence(epoch).map((slice) => ({ ...slice }));
  }

  /** A request arrives. */
  ask(request: Request): void {
    this.#process?.reach(() => {
      if (this.bank !== undefined && this.#mayServe(request, this.bank)) {
        this.#admit(request, this.bank);
      }
    });
  }

  /** Whether the request may be admitted at all, whatever the money. */
  #mayServe(request: Request, bank: Bank): boolean {
    const { truth, revocationMs } = this.#parts;
    const knowsRevoked = revocationMs === undefined || bank.term.knowsRevoked(revocationMs);
    if (!bank.term.isValid || !knowsRevoked) {
      truth.refused(request, "no term", this.name);
      return false;
    }
    if (this.store.revoked.has(request.keyId)) {
      truth.refused(request, "revoked", this.name);
      return false;
    }
    return true;
  }

  #admit(request: Request, bank: Bank): void {
    const lacking = this.#lacking(request, bank);
    if (lacking === undefined) {
      this.#hold(request, bank);
    } else if (this.#isDry(lacking, bank)) {
      this.#shorten(request, bank, "exhausted");
    } else {
      this.#wait(request, lacking, bank);
    }
  }

  #lacking(request: Request, bank: Bank): BankPurse | undefined {
    for (const { id, kind, need } of request.purses) {
      const purse = bank.purse(id, kind);
      // Earlier requests are served first.
      const isBehind = (this.#waiting.get(id)?.length ?? 0) > 0 && this.#waiting.get(id)?.[0] !== request;
      if (purse.free < need || isBehind) {
        return purse;
      }
    }
    return undefined;
  }

  #isDry(purse: BankPurse, bank: Bank): boolean {
    return purse.elsewhere <= 0 && bank.process.monotonic() < purse.dryUntil;
  }

  #wait(request: Request, purse: BankPurse, bank: Bank): void {
    const queue = this.#waiting.get(purse.id) ?? [];
    queue.push(request);
    this.#waiting.set(purse.id, queue);
    this.#wish(purse, bank);
    for (const other of request.purses.map(({ id, kind }) => bank.purse(id, kind))) {
      const awaited = other === purse ? 0 : this.#awaited(other.id);
      if (other.free < awaited) {
        bank.need(other, awaited - Math.max(0, other.free)); // all at once: none is returned while another comes
      }
    }
    if (!request.isPatient) {
      request.isPatient = true;
      bank.process.after(times.patience, () => this.#giveUp(request, bank));
    }
  }

  /** What all waiting requests, for whatever purse, need of one purse. */
  #awaited(purseId: string): number {
    let sum = 0;
    for (const queue of this.#waiting.values()) {
      for (const request of queue) {
        sum += needOf(request, purseId);
      }
    }
    return sum;
  }

  #wish(purse: BankPurse, bank: Bank): void {
    const [first, ...others] = (this.#waiting.get(purse.id) ?? []).map((request) => needOf(request, purse.id));
    if (first !== undefined) {
      const free = Math.max(0, purse.free);
      bank.need(purse, Math.max(1, first - free), Math.max(1, others.reduce((sum, need) => sum + need, first) - free));
    }
  }

  #giveUp(request: Request, bank: Bank): void {
    for (const queue of this.#waiting.values()) {
      const at = queue.indexOf(request);
      if (at >= 0) {
        queue.splice(at, 1);
        if (this.#mayServe(request, bank)) {
          this.#shorten(request, bank, "held");
        }
      }
    }
  }

  /** Admits the request with less output if there is some money, or refuses it. */
  #shorten(request: Request, bank: Bank, why: "exhausted" | "held"): void {
    const cut = request.purses.map((one) => {
      const { free } = bank.purse(one.id, one.kind);
      return one.kind === "rate" ? one : { ...one, need: Math.min(one.need, Math.max(0, free)) };
    });
    const part = Math.min(...cut.map(({ need }, at) => need / (request.purses[at]?.need ?? 1)));
    const hasPermits = cut.every(({ id, kind }) => kind !== "rate" || bank.purse(id, kind).free >= 1);
    if (part >= leastPart && hasPermits) {
      request.purses = request.purses.map((one) =>
        one.kind === "rate" ? one : { ...one, need: Math.floor(one.need * part) },
      );
      request.cost = Math.min(request.cost, ...request.purses.filter(isMoney).map(({ need }) => need));
      this.#hold(request, bank);
      return;
    }
    const lacksPermit = !hasPermits;
    this.#parts.truth.refused(request, lacksPermit ? "limit" : why, this.name);
  }

  #hold(request: Request, bank: Bank): void {
    const { truth } = this.#parts;
    truth.admitted(request, this.name);
    for (const { id, kind, need } of request.purses) {
      bank.purse(id, kind).hold(need, bank.process.monotonic());
    }
    const purses = request.purses.filter(isMoney).map(({ id }) => id);
    const entry = { requestId: request.id, purses, cost: 0 };
    this.store.journal.set(request.id, entry);
    const noteLater = (at: number) => {
      if (at < request.runMs) {
        bank.process.after(noteMs, () => {
          entry.cost = Math.floor((request.cost * at) / request.runMs);
          noteLater(at + noteMs);
        });
      }
    };
    noteLater(noteMs);
    bank.process.after(request.runMs, () => this.#settle(request, bank));
    for (const { id, kind } of request.purses) {
      const purse = bank.purse(id, kind);
      if (purse.isLow && !purse.isPoor && bank.process.monotonic() >= purse.dryUntil) {
        bank.need(purse, 1);
      }
    }
  }

  #settle(request: Request, bank: Bank): void {
    const purses = request.purses.filter(isMoney);
    this.#charge(
      request.id,
      purses.map(({ id }) => id),
      request.cost,
    );
    this.#parts.truth.acknowledged(request);
    for (const { id, kind, need } of purses) {
      const purse = bank.purse(id, kind);
      purse.unhold(need);
      this.#serve(purse);
      bank.tidy(purse);
    }
  }

  /** Charges a request's cost to each of its purses and writes its receipt, once. */
  #charge(requestId: string, purses: readonly string[], cost: number): void {
    const { store } = this;
    store.journal.delete(requestId);
    if (store.receipts.has(requestId)) {
      return;
    }
    const lines = purses.flatMap((id) => this.#lines(id, cost));
    const paid = lines.reduce((sum, line) => sum + line.cost, 0);
    const receipt = { requestId, cost, lines, shortfall: cost * purses.length - paid };
    store.receipts.set(requestId, receipt);
    this.#parts.truth.charged(this.name, receipt);
  }

  #lines(purseId: string, cost: number) {
    const inStore = () => [...this.store.slices.values()].filter(({ lot }) => lot.purseId === purseId);
    const slices = this.bank?.purses.get(purseId)?.slices ?? inStore().sort(bySpending);
    return spend(slices, cost, this.bank?.number ?? 0);
  }

  /** A purse has more, or is known to have no more: waiting requests continue in their order. */
  #serve(purse: BankPurse): void {
    const { bank } = this;
    const queue = this.#waiting.get(purse.id);
    if (bank === undefined || queue === undefined || queue.length === 0) {
      return;
    }
    this.#waiting.set(purse.id, []);
    for (const request of queue) {
      if (this.#mayServe(request, bank)) {
        this.#admit(request, bank);
      }
    }
  }
}

const isMoney = ({ kind }: Request["purses"][number]) => kind !== "rate";

function needOf(request: Request, purseId: string): number {
  return request.purses.find(({ id }) => id === purseId)?.need ?? 0;
}
