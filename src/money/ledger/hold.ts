import type { Run } from "../model/charges/run.ts";
import type { RunFacts, Settled, SettleStatus } from "../model/charges/settlement.ts";
import type { ChargedTokens, PicoUsd, TokensSoFar } from "../model/interface.ts";
import type { Hold, HoldRequest } from "../model/ledger.ts";
import type { Rates } from "../model/rates.ts";
import type { BudgetWallet } from "./budget/budget-wallet.ts";
import { invariant } from "./invariant.ts";
import { toChargeable } from "./settlement/charge-faults.ts";
import type { CachedWallet } from "./wallet/cache/cached-wallet.ts";

/**
 * The journal gets a new note of a running request after this many more tokens. With a piece of 16 that an engine has not
 * told yet, a killed process loses no more than 256.
 */
const noteTokens = 240;

/**
 * The part of a request that its hold keeps: these fields and not the prompt, because it is kept until the charge is
 * stored.
 */
export type HeldRequest = Pick<HoldRequest, "requestId" | "accountId" | "keyId" | "model" | "labels"> & Run;

/** Notes, shrinks and ends holds on behalf of the ledger. */
export interface HoldKeeper {
  /** Remembers the request's progress, in case this process dies. */
  note(hold: RunningHold, counted: ChargedTokens): void;
  /** Frees a part of the hold's money while the request runs. */
  shrink(hold: RunningHold, amount: PicoUsd): void;
  /** Charges an ended hold's tokens and frees its money. Resolves when the charge is durable. */
  charge(hold: RunningHold, tokens: ChargedTokens, status: SettleStatus, facts?: RunFacts): Promise<Settled>;
  /** Frees an ended hold's money without a charge. */
  release(hold: RunningHold): void;
}

/** The parts of a hold. */
export interface Held {
  readonly wallet: CachedWallet;
  readonly request: HeldRequest;
  /** The terms of its admission: pico-USD held per token, and the most that a token will cost. */
  readonly rates: Rates;
  /** The tokens that it is admitted with. */
  readonly admitted: ChargedTokens;
  readonly amount: PicoUsd;
  /** The budget of its key that holds the same amount. Undefined: the key has none. */
  readonly budget: BudgetWallet | undefined;
}

/** Money of a wallet, promised to one request. */
export class RunningHold implements Hold, Held {
  readonly wallet: CachedWallet;
  readonly request: HeldRequest;
  readonly rates: Rates;
  readonly admitted: ChargedTokens;
  readonly budget: BudgetWallet | undefined;
  /** The budget's slice at its admission: a late charge counts in that window, even after the slice was lost. */
  readonly budgetSliceId: string | undefined;
  readonly #keeper: HoldKeeper;
  #amount: PicoUsd;
  #counted: ChargedTokens = { inputTokens: 0, outputTokens: 0 };
  #noted: ChargedTokens = this.#counted;
  #inputKnown = false;
  #ended = false;

  constructor(keeper: HoldKeeper, { wallet, request, rates, admitted, amount, budget }: Held) {
    this.#keeper = keeper;
    this.budget = budget;
    this.budgetSliceId = budget?.sliceId;
    this.wallet = wallet;
    const { requestId, runId, accountId, keyId, model, labels } = request;
    this.request = { requestId, runId, accountId, keyId, model, labels };
    this.rates = rates;
    this.admitted = { inputTokens: admitted.inputTokens, outputTokens: admitted.outputTokens };
    this.#amount = amount;
    this.#write();
  }

  get runId(): string {
    return this.request.runId;
  }

  get inputTokens(): number {
    return this.admitted.inputTokens;
  }

  get outputTokens(): number {
    return this.admitted.outputTokens;
  }

  /** The money held: now, or when the request ended. */
  get amount(): PicoUsd {
    return this.#amount;
  }

  progress(counted: TokensSoFar): void {
    const tokens = toChargeable(counted, this.admitted, this.rates);
    this.#counted = tokens;
    if (!this.#inputKnown && !counted.isLowerBound && tokens.inputTokens > 0) {
      this.#inputKnown = true;
      this.#shrink(tokens.inputTokens * this.rates.input + this.outputTokens * this.rates.output);
    }
    if (tokens.outputTokens - this.#noted.outputTokens >= noteTokens) {
      this.note();
    }
  }

  #shrink(amount: PicoUsd): void {
    const less = this.#amount - amount;
    if (less > 0) {
      this.#amount = amount;
      this.#keeper.shrink(this, less);
    }
  }

  /** Tells the journal the request's progress, if there is any. */
  note(): void {
    if (!this.#ended && this.#counted !== this.#noted) {
      this.#write();
    }
  }

  #write(): void {
    this.#noted = this.#counted;
    this.#keeper.note(this, this.#counted);
  }

  settle(tokens: ChargedTokens, status: SettleStatus, facts?: RunFacts): Promise<Settled> {
    this.#end();
    return this.#keeper.charge(this, tokens, status, facts);
  }

  release(): void {
    this.#end();
    this.#keeper.release(this);
  }

  #end(): void {
    invariant(!this.#ended, `the hold of request ${this.request.requestId} has already ended`);
    this.#ended = true;
  }
}
