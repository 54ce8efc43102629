import type { ReconcileResponse } from "#gen/tollgate/metering/v1/books_service_pb.js";
import type { PicoUsd } from "./interface.ts";
import type { SettleStatus } from "./ledger/settlement/interface.ts";

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
