import type { ReconcileResponse } from "#gen/tollgate/metering/v1/books_service_pb.js";
import type { SettleStatus } from "./charges/settlement.ts";
import type { PicoUsd } from "./interface.ts";

/** Observes settlements, holds and the books. */
export interface MeteringObserver {
  /** The store has a request's charge. The shortfall is the part that no money was left for. */
  charged(model: string, cost: PicoUsd, shortfall: PicoUsd, status: SettleStatus | "recovered"): void;
  /** A request ran but will never be charged. */
  uncharged(model: string): void;
  /** A charge could not be made and is among the dead letters. */
  deadLettered(model: string): void;
  /** Reports how many charges of all cores wait among the dead letters. */
  deadLetters(waiting: number): void;
  /** The receipts of this many days to come have their place. */
  daysAhead(days: number): void;
  /** The receipts of a day had no place when one came. It was made at once. */
  dayMissing(): void;
  /** The store took this many charges in one group commit. */
  committed(charges: number, ms: number): void;
  /** The store did not take charges; the commit is tried again. */
  refused(): void;
  /** The database had lost this many acknowledged charges. They are made again. */
  putBack(charges: number): void;
  /** A charge came after its money had been given to others, and was made anew. */
  fenced(): void;
  /** An account's money broke an invariant. The account is refused from now on; all others are served. */
  broken(): void;
  /** The thread that writes the ledger of a SQLite file ended and is started again. */
  threadEnded(): void;
  /** This core proved the books, or the proof failed. */
  reconciled(proof: ReconcileResponse): void;
  /** Another core proved the books at a time, for all, or its proof failed. */
  provedElsewhere(at: number, ok: boolean): void;
}
