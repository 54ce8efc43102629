import type { Budget } from "../../accounts/interface.ts";
import type { ChargedTokens, PicoUsd } from "../interface.ts";
import type { RunFacts, Settled, SettleStatus } from "./settlement/interface.ts";

/** A request for money to be set aside. */
export interface HoldRequest {
  /** Charged at most once. An id that newRequestId made just now costs no look-up. */
  readonly requestId: string;
  readonly accountId: string;
  /** Empty: a service token. */
  readonly keyId: string;
  /** The budget of its key. Absent: the key may spend all that the account has. */
  readonly budget?: Budget | undefined;
  readonly model: string;
  /** A bound that the engine's count of the prompt cannot pass. */
  readonly inputTokens: number;
  /** The most output tokens wanted; 0 for embeddings. */
  readonly outputTokens: number;
  /**
   * Tells the exact number of prompt tokens, asked only when the balance is short of the bound.
   * Undefined: the bound stays.
   */
  readonly countInput?: () => Promise<number | undefined>;
}

/** Money set aside for one request. Exactly one of settle and release ends it. */
export interface Hold {
  /** A UUID of this run alone, whatever ids callers choose. Charges and the engine name the run by it. */
  readonly runId: string;
  /** Output tokens that the money covers, at least 1 unless none were wanted; the stream is cut there. */
  readonly outputTokens: number;
  /** Notes the engine's count so far: shrinks the hold, and is billed should this process crash. */
  progress(tokens: ChargedTokens): void;
  /**
   * Charges the tokens and frees the rest. Resolves with the cost when the charge is durable; undefined: the request is
   * charged when another part of it has ended, too.
   */
  settle(tokens: ChargedTokens, status: SettleStatus, facts?: RunFacts): Promise<Settled | undefined>;
  /** Frees everything: nothing was processed, so there is no charge and no receipt. */
  release(): void;
}

/** How a budget stands in the window that is open now. */
export interface BudgetState {
  /** Charged. */
  readonly spent: PicoUsd;
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

/** Prepaid money, spent. */
export interface Ledger {
  /**
   * Sets the worst case aside. Throws BALANCE_EXHAUSTED when not even 64 tokens can be paid,
   * BALANCE_HELD with a retry delay when only held money stood in the way for 2 s, the same of the key's budget as
   * BUDGET_EXHAUSTED and BUDGET_HELD, DUPLICATE_REQUEST, LEDGER_UNAVAILABLE.
   */
  hold(request: HoldRequest, signal: AbortSignal): Promise<Hold>;
  /** How a budget stands, as far as charges are stored. The account may be left out where there is one database. */
  budgetState(budget: Budget, accountId?: string): Promise<BudgetState>;
  /** An account's age and payments, which its rate limit depends on. Answered from memory when the account is warm. */
  fundingState(accountId: string): FundingState | Promise<FundingState>;
  /** Settles what is under way and gives leases back; the store stays open. */
  close(): Promise<void>;
}

/** How the ledger stands at the moment. */
export interface LedgerState {
  /** Requests that hold money, and that money. */
  readonly holds: number;
  readonly held: PicoUsd;
  /** Charges that wait for the store. */
  readonly backlog: number;
  /** Size of the journal. */
  readonly journalBytes: number;
  /** Damaged records of the journal that are kept aside. */
  readonly journalSetAside: number;
  /** False when no request is admitted. */
  readonly admits: boolean;
}
