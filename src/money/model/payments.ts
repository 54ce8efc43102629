import type { SqlEntityManager } from "@mikro-orm/sql";
import type { PageStart } from "#lib/rpc/pages.ts";
import type { PicoUsd } from "./interface.ts";
import type { FundingState } from "./ledger.ts";
import type { LotKind } from "./spending-order.ts";

/** Money that comes in. */
export interface Credit {
  readonly accountId: string;
  readonly kind: "free" | "grant" | "paid";
  readonly amount: PicoUsd;
  /**
   * Unique over all accounts. A repeated payment returns the first one's lot; a reference with another account, kind or
   * amount is refused.
   */
  readonly reference: string;
  readonly expiresAt?: Date;
  /**
   * The reference of a refund that this payment takes back: no limit is asked, and the money keeps the prices that it
   * had. Undefined: it is new money.
   */
  readonly undoes?: string;
  /** Whether it was ordered within the limits of one payment, which may have changed since. Undefined: it was not. */
  readonly isOrdered?: boolean;
}

/** Money that goes back. */
export interface Refund {
  readonly accountId: string;
  readonly amount: PicoUsd;
  readonly reference: string;
  /** Whether what is not free becomes debt: the money has left already. Undefined: such a refund is refused. */
  readonly intoDebt?: boolean;
}

/** Money that moved. */
export interface Movement {
  readonly accountId: string;
  readonly kind: Credit["kind"] | "refund";
  readonly amount: PicoUsd;
  readonly reference: string;
  /** The lot that was made, or the newest one that was refunded from. */
  readonly lotId: string;
  /** Everything ever paid in less refunds, before and after the movement. */
  readonly paidTotal: { readonly before: bigint; readonly after: bigint };
  /** The reference of the refund that it takes back. Absent: none. */
  readonly undoes?: string;
}

/** Called in the movement's own transaction, which may run more than once. Throwing undoes the movement. */
export type Alongside = (em: SqlEntityManager, movement: Movement) => Promise<void>;

/** A lot as it stands. */
export interface LotStatement {
  readonly id: string;
  readonly kind: LotKind;
  readonly granted: PicoUsd;
  readonly remaining: PicoUsd;
  readonly priceVersion: string;
  /** The account's own prices that it locked in. Absent: the general ones. */
  readonly ownPrices?: { readonly number: number; readonly discount: number };
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
  /** Unspent money, including held money, without the credit line. */
  readonly balance: bigint;
  readonly held: bigint;
  /** Everything that is owed: on the credit line, and what no money was left for. */
  readonly debt: bigint;
  /** The rest of the credit line, including what is held of it. */
  readonly credit: bigint;
  /** The first lots with money left, at most 100, in the order of spending. */
  readonly lots: readonly LotStatement[];
}

/** An account to open. */
export interface NewAccount {
  readonly id: string;
  readonly name: string;
  readonly maxKeys: number;
  readonly requestId?: string;
  /** Where its mail goes. */
  readonly email?: string;
}

/** Prepaid money that comes in and goes back. A repeated movement moves nothing and is not announced. */
export interface Funds {
  /** Creates an account and its free-tier lot (none when the grant is 0) in one transaction. */
  open(account: NewAccount, freeGrant: PicoUsd, alongside?: (em: SqlEntityManager) => Promise<void>): Promise<void>;
  /** Asks whether a payment would be taken. Throws ACCOUNT_NOT_FOUND, PAYMENT_…. */
  check(accountId: string, amount: PicoUsd): Promise<void>;
  /** Makes a lot at today's prices. Throws ACCOUNT_NOT_FOUND, PAYMENT_…. */
  credit(credit: Credit, alongside?: Alongside): Promise<{ readonly lotId: string }>;
  /** Takes unspent paid money back. Throws ACCOUNT_NOT_FOUND, REFUND_EXCEEDS_BALANCE, PAYMENT_REFERENCE_CONFLICT. */
  refund(refund: Refund, alongside?: Alongside): Promise<{ readonly lotId: string }>;
  /**
   * Sets the most that an account may owe. A line below what is owed stops spending; running requests finish with what
   * they hold. Throws ACCOUNT_NOT_FOUND, PAYMENT_INVALID_AMOUNT.
   */
  setCreditLine(accountId: string, line: PicoUsd): Promise<void>;
  /** Throws ACCOUNT_NOT_FOUND. */
  statement(accountId: string): Promise<Statement>;
  /** The statements of accounts, read in a few queries for all of them. Accounts that do not exist are absent. */
  statements(accountIds: readonly string[]): Promise<ReadonlyMap<string, Statement>>;
  /**
   * Lots of an account, spent ones included, oldest first. A lot's key is its id. Empty when there is no such account.
   */
  lots(accountId: string, start: PageStart): Promise<readonly LotStatement[]>;
  /**
   * All money that came into an account, less refunds and lapsed money. Charges do not change it. 0 when there is no
   * account.
   */
  credited(accountId: string): Promise<bigint>;
  /**
   * Payments of an account, newest first. A payment's key is `"<milliseconds> <id>"`. Empty when there is no such
   * account.
   */
  payments(accountId: string, start: PageStart): Promise<readonly PaymentStatement[]>;
}
