import type { ChargedTokens, Hold, HoldRequest, PicoUsd, Rates, SettleStatus } from "../interface.ts";
import type { Journal } from "../journal/journal.ts";
import type { Run } from "./run.ts";
import { toChargeable } from "./settlement/charge-faults.ts";
import type { Wallet } from "./wallet/wallet.ts";

/** A running request is noted anew after this many more tokens. */
const noteTokens = 256;

/**
 * The part of a request that outlives its run. What else there is of it, its prompt first of all, must not hang on a
 * hold: a table that holds come into and go from keeps those that have gone until the next full collection.
 */
export type HeldRequest = Pick<HoldRequest, "requestId" | "accountId" | "keyId" | "model"> & Run;

/** What a hold needs of the ledger that gave it. */
export interface HoldKeeper {
  readonly journal: Journal;
  /** Charges an ended hold's tokens and frees its money. */
  charge(hold: RunningHold, tokens: ChargedTokens, status: SettleStatus): Promise<void>;
  /** Forgets an ended hold without a charge. */
  forget(hold: RunningHold): void;
  /** Money of the wallet became free. */
  freed(wallet: Wallet): void;
}

/** Money of a wallet, promised to one request. */
export class RunningHold implements Hold {
  readonly outputTokens: number;
  readonly request: HeldRequest;
  readonly wallet: Wallet;
  /** The terms of its admission: what was held per token, and the most that one will cost. */
  readonly rates: Rates;
  /** The tokens that it was admitted with. */
  readonly admitted: ChargedTokens;
  readonly #keeper: HoldKeeper;
  #amount: PicoUsd;
  #counted: ChargedTokens = { inputTokens: 0, outputTokens: 0 };
  #noted: ChargedTokens = this.#counted;
  #inputKnown = false;
  #ended = false;

  constructor(keeper: HoldKeeper, wallet: Wallet, request: HeldRequest, rates: Rates, tokens: ChargedTokens) {
    this.#keeper = keeper;
    this.wallet = wallet;
    const { requestId, runId, accountId, keyId, model } = request;
    this.request = { requestId, runId, accountId, keyId, model };
    this.rates = rates;
    this.admitted = { inputTokens: tokens.inputTokens, outputTokens: tokens.outputTokens };
    this.outputTokens = tokens.outputTokens;
    this.#amount = tokens.inputTokens * rates.input + tokens.outputTokens * rates.output;
    wallet.held += this.#amount;
    this.#write();
  }

  get runId(): string {
    return this.request.runId;
  }

  progress(counted: ChargedTokens): void {
    const tokens = toChargeable(counted, this.admitted, this.rates);
    this.#counted = tokens;
    if (!this.#inputKnown && tokens.inputTokens > 0) {
      this.#inputKnown = true;
      this.#shrink(tokens.inputTokens * this.rates.input + this.outputTokens * this.rates.output);
    }
    if (tokens.outputTokens - this.#noted.outputTokens >= noteTokens) {
      this.note();
    }
  }

  /** Tells the journal how far the request has come, when it has come further. */
  note(): void {
    if (!this.#ended && this.#counted !== this.#noted) {
      this.#write();
    }
  }

  #write(): void {
    this.#noted = this.#counted;
    this.#keeper.journal.note({ ...this.request, tokens: this.#counted, maxRates: this.rates });
  }

  settle(tokens: ChargedTokens, status: SettleStatus): Promise<void> {
    this.#end();
    return this.#keeper.charge(this, tokens, status);
  }

  release(): void {
    this.#end();
    this.free();
    this.#keeper.forget(this);
    this.#keeper.freed(this.wallet);
  }

  /** Whether the request still runs. */
  get open(): boolean {
    return !this.#ended;
  }

  /** What is held at the moment. */
  get amount(): PicoUsd {
    return this.#amount;
  }

  /** Makes the money free, once the hold has ended. */
  free(): void {
    this.wallet.held -= this.#amount;
    this.#amount = 0;
  }

  #shrink(amount: PicoUsd): void {
    if (amount >= this.#amount) {
      return;
    }
    this.wallet.held -= this.#amount - amount;
    this.#amount = amount;
    this.#keeper.freed(this.wallet);
  }

  #end(): void {
    if (this.#ended) {
      throw new Error(`the hold of request ${this.request.requestId} has already ended`);
    }
    this.#ended = true;
  }
}
