import type { SqlEntityManager } from "@mikro-orm/sql";
import type { ReconcileResponse } from "#gen/tollgate/metering/v1/books_service_pb.js";
import type { PageStart } from "../../lib/rpc/pages.ts";
import type { RateLimitState } from "../../lib/rpc/rate-limit.ts";
import type { Budget, Caller } from "../accounts/interface.ts";
import type { Account } from "../storage/entities/account.ts";
import type { Delivery, FinishName, SurfaceName } from "../storage/entities/metering/usage.ts";

/** Money and prices are whole pico-USD (10^-12 USD): a JS number a request, a bigint a sum. */
export type PicoUsd = number;

/** A model's rates in pico-USD a token. */
export interface Rates {
  readonly input: PicoUsd;
  readonly output: PicoUsd;
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

/** Tokens to be charged. */
export interface ChargedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** How a charged request ended. */
export type SettleStatus = "completed" | "cancelled" | "failed";

/** Facts about a run beside its cost. Absent: not known. */
export interface RunFacts {
  /** Why the answer ended. Absent: it did not end. */
  readonly finish?: FinishName;
  readonly delivery?: Delivery;
  /** Milliseconds from the request to the first output. */
  readonly firstTokenMs?: number;
  /** Milliseconds from the request to the end of the answer. */
  readonly durationMs?: number;
  readonly reasoningTokens?: number;
  readonly cachedInputTokens?: number;
  /** The id of the inference server that answered. */
  readonly server?: string;
  /** The door that the request came through. */
  readonly surface?: SurfaceName;
}

/** The cost of a settled request. */
export interface Settled {
  readonly cost: PicoUsd;
  /** The cost that each lot paid, in the order of spending. */
  readonly lots: readonly { readonly lotId: string; readonly cost: PicoUsd }[];
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
  /** How a budget stands, as far as charges are stored. */
  budgetState(budget: Budget): Promise<BudgetState>;
  /** An account's age and payments, which its rate limit depends on. Answered from memory when the account is warm. */
  fundingState(accountId: string): Promise<FundingState>;
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

/** Observes settlements, holds and the books. */
export interface MeteringObserver {
  /** The store has a request's charge; the shortfall is the part that no money was left for. */
  charged(model: string, cost: PicoUsd, shortfall: PicoUsd, status: SettleStatus | "recovered"): void;
  /** A request was run, but will never be charged. */
  uncharged(model: string): void;
  /** A charge could not be made and is among the dead letters. */
  deadLettered(model: string): void;
  /** So many charges wait among the dead letters, of all cores. */
  deadLetters(waiting: number): void;
  /** The store took so many charges together. */
  committed(charges: number, ms: number): void;
  /** The store did not take charges; it is asked again. */
  refused(): void;
  /** A charge came after the money set aside for it was given to others, and was made anew. */
  fenced(): void;
  /** An account's money moved as it never may; it is refused from now on, and the others are served. */
  broken(): void;
  /** The thread that writes the ledger of a SQLite file ended, and is started again. */
  threadEnded(): void;
  /** The books were proved, or not. */
  reconciled(proof: ReconcileResponse): void;
}

/** Money that comes in. */
export interface Credit {
  readonly accountId: string;
  readonly kind: "free" | "grant" | "paid";
  readonly amount: PicoUsd;
  /** Unique over all accounts: the same again answers the same, another amount is refused. */
  readonly reference: string;
  readonly expiresAt?: Date;
}

/** A lot as it stands. */
export interface LotStatement {
  readonly id: string;
  readonly kind: Credit["kind"];
  readonly granted: PicoUsd;
  readonly remaining: PicoUsd;
  readonly priceVersion: string;
  readonly createdAt: Date;
  readonly expiresAt?: Date;
}

/** A payment as it was entered. */
export interface PaymentStatement {
  readonly id: string;
  readonly kind: Credit["kind"] | "refund";
  readonly amount: PicoUsd;
  readonly reference: string;
  readonly lotId: string;
  readonly at: Date;
}

/** An account's money as it stands. */
export interface Statement extends FundingState {
  /** Unspent, held money included. */
  readonly balance: bigint;
  readonly held: bigint;
  readonly debt: bigint;
  /** The first lots with money left, at most 100, in the order of spending. */
  readonly lots: readonly LotStatement[];
}

/** Money that moved. */
export interface Movement {
  readonly accountId: string;
  readonly kind: Credit["kind"] | "refund";
  readonly amount: PicoUsd;
  readonly reference: string;
  /** The lot that was made, or the newest one that was refunded from. */
  readonly lotId: string;
  /** Everything ever paid in, refunds deducted, before and after. */
  readonly paidTotal: { readonly before: bigint; readonly after: bigint };
}

/** Called in the movement's own transaction, which may run more than once; throwing undoes the movement. */
export type Alongside = (em: SqlEntityManager, movement: Movement) => Promise<void>;

/** Tells of balances that run out, in transactions that have the account locked and nothing of its money unwritten. */
export interface BalanceJudge {
  /** Tells of what has fallen, and lets what has risen be told again: money came in, or the threshold was changed. */
  judge(em: SqlEntityManager, account: Account): Promise<void>;
  /** Tells of what has fallen. */
  judgeFall(em: SqlEntityManager, account: Account): Promise<void>;
}

/** Prepaid money, coming in and going back. A repeated movement moves nothing, and nobody is told of it. */
export interface Funds {
  /** Creates an account and its free-tier lot (none when the grant is 0) in one transaction. */
  open(
    account: { readonly id: string; readonly name: string; readonly maxKeys: number; readonly requestId?: string },
    freeGrant: PicoUsd,
    alongside?: (em: SqlEntityManager) => Promise<void>,
  ): Promise<void>;
  /** Makes a lot at today's prices. Throws ACCOUNT_NOT_FOUND, PAYMENT_…. */
  credit(credit: Credit, alongside?: Alongside): Promise<{ readonly lotId: string }>;
  /** Takes unspent paid money back. Throws ACCOUNT_NOT_FOUND, REFUND_EXCEEDS_BALANCE, PAYMENT_REFERENCE_CONFLICT. */
  refund(
    refund: { readonly accountId: string; readonly amount: PicoUsd; readonly reference: string },
    alongside?: Alongside,
  ): Promise<{ readonly lotId: string }>;
  /** Throws ACCOUNT_NOT_FOUND. */
  statement(accountId: string): Promise<Statement>;
  /** Lots of an account, spent ones included, oldest first; a lot's key is its id. None where there is no account. */
  lots(accountId: string, start: PageStart): Promise<readonly LotStatement[]>;
  /** Payments of an account, newest first; a payment's key is `"<milliseconds> <id>"`. None where there is no account. */
  payments(accountId: string, start: PageStart): Promise<readonly PaymentStatement[]>;
}

/** Requests a minute. */
export interface RateLimits {
  /**
   * Counts one request. Throws RATE_LIMITED or FREE_TIER_LIMITED with a true retry delay, and in its metadata where the
   * key stands; those count nothing.
   */
  admit(caller: Caller): Promise<RateLimitState>;
  /**
   * As `admit`, for a request that runs: it takes one of its key's and of its account's places, and as many of its key's
   * tokens a minute as it may come to, until `leave` is called with the tokens that it was charged for; those stay
   * counted for a minute. Throws RATE_LIMITED too when there is too little of one of them, which counts nothing.
   */
  begin(
    caller: Caller,
    tokenBound: number,
  ): Promise<{ readonly rateLimit: RateLimitState; leave(tokens: number): void }>;
  /** Where the caller stands, without counting. */
  read(caller: Caller): Promise<RateLimitState>;
}

/** Live prices. */
export interface Prices {
  /** The live rates of a model that the configuration lists. */
  live(model: string): Rates;
}
