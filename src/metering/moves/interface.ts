import type { MoveKind, MoveState } from "../../storage/entities/account-move.ts";

/** The move of an account from one database to another. */
export interface Move {
  readonly id: string;
  readonly accountId: string;
  readonly kind: MoveKind;
  /** The number of the account's move, from 1. 0: it has none yet. */
  readonly generation: number;
  /** The numbers of the two databases. */
  readonly from: number;
  readonly to: number;
}

/** A move as one of its two databases knows it. */
export interface KnownMove extends Move {
  readonly incoming: boolean;
  readonly state: MoveState;
}

/** Everything that leaves a database with a move. */
export interface Parcel {
  readonly generation: number;
  /** The content, as JSON. Do not parse it with anything that rounds whole numbers above 2^53. */
  readonly payload: string;
  /** In pico-USD, as decimal text. */
  readonly money: string;
  readonly debt: string;
  readonly paidTotal: string;
}

/** The database that an account leaves. Each step may be repeated: once done, it does nothing. */
export interface Departure {
  /**
   * Closes an account: no new request runs, and nothing of the account changes. Throws ACCOUNT_NOT_FOUND,
   * LEDGER_UNAVAILABLE.
   */
  close(move: Move, until: Date): Promise<void>;
  /**
   * Takes out everything that moves, and returns it with the move's number. leased: running requests still hold money
   * of the account, or charges are on their way. over: everything has arrived already. Throws LEDGER_UNAVAILABLE when
   * the move was given up.
   */
  leave(move: Move): Promise<Parcel | "leased" | "over">;
  /**
   * Closes an account that has come to another database by a move that this database has forgotten or given up, because
   * it was restored to an earlier state. Does nothing when the account is not here, or is closed by another move.
   */
  closeAgain(move: Move, until: Date): Promise<void>;
  /** Notes that everything has arrived. */
  done(move: Move): Promise<void>;
  /** What left with a move that is done. Undefined: this database does not know it, or no longer does. */
  recall(move: Pick<Move, "id">): Promise<Parcel | undefined>;
  /** Opens the account again, unless it has left. Returns whether it has left. */
  cancel(move: Pick<Move, "id" | "accountId">): Promise<boolean>;
  /** Accounts that have left, with money or a debt that has turned up here since. */
  findRests(): Promise<readonly string[]>;
  /** Takes that money and debt out, too. Returns false when another move of the account is under way. */
  leaveRest(move: Move): Promise<boolean>;
}

/** The database that an account moves to. */
export interface Arrival {
  /**
   * Throws LEDGER_UNAVAILABLE when the database cannot be reached, and when the account is open here, too, as in a
   * database that was restored to a state before the account left it: its money would exist twice.
   */
  mustTake(accountId: string): Promise<void>;
  /** Whether everything of this move has arrived. */
  hasCome(move: Pick<Move, "id">): Promise<boolean>;
  /** Puts everything in, once. */
  arrive(move: Move, parcel: Parcel): Promise<void>;
}
