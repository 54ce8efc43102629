import type { MoveKind, MoveState } from "../../storage/entities/account-move.ts";

/** An account's way from one database to another. */
export interface Move {
  readonly id: string;
  readonly accountId: string;
  readonly kind: MoveKind;
  /** Counts the moves of the account, from 1; 0: it is not counted yet. */
  readonly generation: number;
  /** The numbers of the databases. */
  readonly from: number;
  readonly to: number;
}

/** A move as one of its two databases knows it. */
export interface KnownMove extends Move {
  readonly incoming: boolean;
  readonly state: MoveState;
}

/** What leaves a database with a move. */
export interface Parcel {
  readonly generation: number;
  /** Everything, as JSON. It is not to be read by what rounds whole numbers above 2^53. */
  readonly payload: string;
  /** As decimal text. */
  readonly money: string;
  readonly debt: string;
  readonly paidTotal: string;
}

/** The database that an account leaves. Each step may be repeated: once done, it does nothing. */
export interface Departure {
  /** Closes an account: it runs nothing new and nothing of it changes. Throws ACCOUNT_NOT_FOUND, LEDGER_UNAVAILABLE. */
  close(move: Move, until: Date): Promise<void>;
  /**
   * Takes everything out that moves, and tells which of the account's moves it is. leased: running requests hold money of
   * the account yet, or charges are on their way. over: it is there already.
   * Throws LEDGER_UNAVAILABLE when the move was given up.
   */
  leave(move: Move): Promise<Parcel | "leased" | "over">;
  /**
   * Closes an account that has come to another database by a move that this one has forgotten or given up, as it was restored to
   * before it. Does nothing where the account is not, or is closed by another move.
   */
  closeAgain(move: Move, until: Date): Promise<void>;
  /** Notes that it is there. */
  done(move: Move): Promise<void>;
  /** What left with a move that is done. Undefined: this database does not know it, or knows it no longer. */
  recall(move: Pick<Move, "id">): Promise<Parcel | undefined>;
  /** Opens the account again, unless it has left. Returns whether it has. */
  cancel(move: Pick<Move, "id" | "accountId">): Promise<boolean>;
  /** Accounts that have left and of which money or a debt has turned up here since. */
  findRests(): Promise<readonly string[]>;
  /** Takes that out, too. Returns whether there was any. */
  leaveRest(move: Move): Promise<boolean>;
}

/** The database that an account moves to. */
export interface Arrival {
  /**
   * Throws LEDGER_UNAVAILABLE when it cannot be reached, and when the account is open here, too, as in a database that was
   * restored to before the account left it: its money would be there twice.
   */
  mustTake(accountId: string): Promise<void>;
  /** Whether it has come with this move. */
  hasCome(move: Pick<Move, "id">): Promise<boolean>;
  /** Puts everything in, once. */
  arrive(move: Move, parcel: Parcel): Promise<void>;
}
