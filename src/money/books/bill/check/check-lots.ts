import { formatUsd } from "#lib/money/money.ts";
import { LotOrigins, type Origin } from "./lot-origin.ts";
import { Misfit, must, mustMake } from "./misfit.ts";
import type { Line } from "./read-line.ts";

/** What a charge took from a credit, and at which rates, in pico-USD a token. */
export interface PaidPart {
  readonly lotId: string;
  readonly inputRate: number;
  readonly outputRate: number;
  readonly cost: number;
}

interface Lot {
  readonly balance: bigint;
  /** Undefined: no line has told it yet. */
  readonly origin: Origin | undefined;
  /** Whether its money has come in by now. Never of a credit line, nor of what no credit could pay. */
  readonly hasCome: boolean;
}

const nothing: Lot = { balance: 0n, origin: undefined, hasCome: false };
const nameOf = (lotId: string) => (lotId === "" ? "what no credit could pay" : `credit ${lotId}`);

/**
 * Checks what each credit of a statement has: at its opening from its lines, then from every movement, until its closing says
 * the same. A credit gives no more than it has once it has come in. Keeps credits with money alone.
 */
export class LotCheck {
  readonly #lots = new Map<string, Lot>();
  readonly #origins = new LotOrigins();
  readonly #from: number;
  readonly #opening: bigint;
  #opened = 0n;
  /** The lots of the opening balance that further lines have to tell. */
  #missing: number;
  #isClosing = false;
  /** When the first credit came in that has paid before, and not come in yet. */
  #ahead = Number.POSITIVE_INFINITY;

  /** Begins with the opening line. `from`: the beginning of the first day, in milliseconds since the epoch. */
  constructor(line: Line, from: number) {
    this.#from = from;
    this.#opening = line.balance("balance");
    this.#missing = line.count("lot_count");
    this.#open(line);
  }

  /** A line of further lots of the opening, or of the closing balance. */
  addPage(line: Line): void {
    if (this.#missing > 0) {
      this.#open(line);
    } else {
      this.#close(line);
    }
  }

  /** Throws a Misfit where no movement, charge or seal may stand. */
  demandWhole(): void {
    must(this.#missing === 0, "credits of the opening balance are missing");
    must(!this.#isClosing, "it comes after credits of the closing balance");
  }

  /** What a line other than a charge does. Throws a Misfit. */
  move(line: Line, amount: bigint): void {
    const lotId = line.text("lot");
    switch (line.kind) {
      case "topup":
      case "grant":
        this.#come(line, lotId, amount);
        break;
      case "refund":
        mustMake("amount", this.#refund(line), amount);
        break;
      case "repayment": {
        const pays = line.text("pays");
        must((lotId === "") !== (pays === ""), "one side of a repayment is what no credit could pay");
        this.#add(lotId, -amount);
        this.#add(pays, amount);
        break;
      }
      default:
        this.#add(lotId, -amount);
    }
  }

  charge(model: string, parts: readonly PaidPart[]): void {
    for (const { lotId, inputRate, outputRate, cost } of parts) {
      const rates = this.#lots.get(lotId)?.origin?.prices.rates.get(model);
      const isLocked = rates === undefined || (inputRate <= rates.input && outputRate <= rates.output);
      must(isLocked, `${nameOf(lotId)} has locked in lower rates for ${model}`);
      this.#add(lotId, -BigInt(cost));
    }
  }

  /** Checks the closing line. */
  finish(line: Line): void {
    must(this.#missing === 0, "credits of the opening balance are missing");
    this.#close(line);
    must(this.#ahead >= line.time("at").getTime(), "a credit that had come in has less than nothing");
    for (const [lotId, { balance }] of this.#lots) {
      throw new Misfit(`${nameOf(lotId)} is not in it, and has ${formatUsd(balance)}`);
    }
  }

  #open(line: Line): void {
    for (const entry of line.list("lots")) {
      const lotId = entry.text("lot");
      must(!this.#lots.has(lotId), `${nameOf(lotId)} is in it twice`);
      const balance = entry.balance("balance");
      const origin = this.#origins.read(entry, lotId);
      const isMoney = origin !== undefined && origin.kind !== "line";
      const hasCome = isMoney && origin.at < this.#from;
      must(!isMoney || balance > 0n === hasCome, `${nameOf(lotId)} has ${formatUsd(balance)} at the beginning`);
      this.#lots.set(lotId, { balance, origin, hasCome });
      this.#opened += balance;
      this.#missing--;
    }
    must(this.#missing >= 0, "it has more credits than it counts");
    if (this.#missing === 0) {
      mustMake("balance", this.#opened, this.#opening);
    }
  }

  #close(line: Line): void {
    this.#isClosing = true;
    for (const entry of line.list("lots")) {
      const lotId = entry.text("lot");
      const lot = this.#lots.get(lotId) ?? nothing;
      mustMake(`the balance of ${nameOf(lotId)}`, lot.balance, entry.balance("balance"));
      const origin = this.#origins.read(entry, lotId);
      must(lot.origin === undefined || isSame(lot.origin, origin), `${nameOf(lotId)} was another before`);
      if (origin !== undefined && origin.kind !== "line" && !lot.hasCome) {
        must(lot.balance < 0n, `${nameOf(lotId)} has money that never came in`);
        this.#ahead = Math.min(this.#ahead, origin.at);
      }
      this.#lots.delete(lotId);
    }
  }

  #come(line: Line, lotId: string, amount: bigint): void {
    const { balance, origin: told, hasCome } = this.#lots.get(lotId) ?? nothing;
    must(!hasCome && lotId !== "", `${nameOf(lotId)} came in before`);
    const origin = this.#origins.read(line, lotId);
    must(told === undefined || isSame(told, origin), `${nameOf(lotId)} was another before`);
    this.#set(lotId, { balance: balance + amount, origin, hasCome: true });
  }

  #refund(line: Line): bigint {
    let taken = 0n;
    for (const part of line.list("lots")) {
      this.#add(part.text("lot"), -part.usd("amount"));
      taken += part.usd("amount");
    }
    return taken;
  }

  #add(lotId: string, amount: bigint): void {
    const lot = this.#lots.get(lotId) ?? nothing;
    this.#set(lotId, { ...lot, balance: lot.balance + amount });
  }

  #set(lotId: string, lot: Lot): void {
    if (lot.balance === 0n) {
      this.#lots.delete(lotId);
    } else {
      must(lot.balance > 0n || !lot.hasCome, `${nameOf(lotId)} gives ${formatUsd(-lot.balance)} more than it has`);
      this.#lots.set(lotId, lot);
    }
  }
}

const isSame = (one: Origin, other: Origin | undefined): boolean =>
  one.kind === other?.kind && one.at === other.at && one.prices === other.prices;
