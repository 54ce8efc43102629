import type { Budget } from "#src/wire/principal.ts";
import type { RunFacts, Settled, SettleStatus } from "./charges/settlement.ts";
import type { ChargedTokens, PicoUsd, TokensSoFar } from "./interface.ts";

/** A request that needs money set aside. */
export interface HoldRequest {
  /** Charged at most once. An id that newRequestId has just made costs no look-up. */
  readonly requestId: string;
  readonly accountId: string;
  /** Empty: the caller uses a service token. */
  readonly keyId: string;
  /** The budget of its key. Absent: the key may spend everything that the account has. */
  readonly budget?: Budget | undefined;
  readonly model: string;
  /** An upper bound of the engine's count of the prompt. */
  readonly inputTokens: number;
  /** The most output tokens wanted; 0 for embeddings. */
  readonly outputTokens: number;
  /** The answers that share the output: each needs a token of it. Undefined: one. */
  readonly answers?: number;
  /** Its attribution labels, as in Charge. Absent: none. */
  readonly labels?: string | undefined;
  /**
   * Returns the exact number of prompt tokens. Called only when the balance does not cover the bound. Undefined: the
   * bound stays.
   */
  readonly countInput?: () => Promise<number | undefined>;
}

/** Money set aside for one request. Exactly one of settle and release ends it. */
export interface Hold {
  /** A UUID of this run alone, whatever ids callers choose. Charges and the engine use it. */
  readonly runId: string;
  /** Prompt tokens that the money covers: the bound, or the count when the balance did not cover the bound. */
  readonly inputTokens: number;
  /** Output tokens that the money covers: at least 1 for each answer, unless none were wanted. The stream is cut there. */
  readonly outputTokens: number;
  /** Notes what is counted so far, which is charged should this process crash. The engine's own count shrinks the hold. */
  progress(tokens: TokensSoFar): void;
  /**
   * Charges the tokens and frees the rest. Resolves with the cost when the charge is durable. Undefined: the request is
   * charged once another part of it has ended, too.
   */
  settle(tokens: ChargedTokens, status: SettleStatus, facts?: RunFacts): Promise<Settled | undefined>;
  /**
   * Frees everything: there is no charge and no receipt. `read`: tokens that an engine may have read all the same; they
   * count for the limits of the caller's key.
   */
  release(read?: ChargedTokens): void;
}

/** The state of a budget in the window that is open now. */
export interface BudgetState {
  /** The money charged, in pico-USD. */
  readonly spent: bigint;
  /** The limit less the money charged; running requests may hold part of it. */
  readonly left: PicoUsd;
  /** When the next window opens, in milliseconds since the epoch. Undefined: never. */
  readonly resetsAt: number | undefined;
}

/** The facts that an account's rate-limit tier depends on. */
export interface FundingState {
  readonly createdAt: number;
  readonly paidTotal: bigint;
  /** Only free-tier money or grants are left, or nothing was ever paid. */
  readonly freeOnly: boolean;
}

/** Spends prepaid money. */
export interface Ledger {
  /**
   * Sets the worst case aside. Throws BALANCE_EXHAUSTED when not even 64 tokens can be paid, BALANCE_HELD with a retry
   * delay when only held money was in the way for 2 s, BUDGET_EXHAUSTED and BUDGET_HELD likewise for the key's budget,
   * DUPLICATE_REQUEST, LEDGER_UNAVAILABLE.
   */
  hold(request: HoldRequest, signal: AbortSignal): Promise<Hold>;
  /** The state of a budget, as far as charges are stored. The account may be left out when there is one database. */
  budgetState(budget: Budget): Promise<BudgetState>;
  /**
   * An account's age and payments, which its rate limit depends on. Answered from memory when the account is in memory.
   */
  fundingState(accountId: string): FundingState | Promise<FundingState>;
  /** Settles charges under way and gives leases back. The store stays open. */
  close(): Promise<void>;
}

/** The current state of the ledger. */
export interface LedgerState {
  /** The number of requests that hold money, and the money held. */
  readonly holds: number;
  readonly held: PicoUsd;
  /** Charges that wait for the store. */
  readonly backlog: number;
  /** Size of the journal, in bytes. */
  readonly journalBytes: number;
  /** Damaged records of the journal that are kept aside. */
  readonly journalSetAside: number;
  /** False when no request is admitted. */
  readonly admits: boolean;
}
