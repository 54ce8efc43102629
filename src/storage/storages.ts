import type { Storage } from "./orm.ts";

/**
 * The databases that accounts live in. Each method throws LEDGER_UNAVAILABLE for one that has not been reached since
 * the start.
 */
export interface Storages {
  /** Whether any account has ever moved from one database to another. */
  readonly haveMoved: boolean;
  /** The databases that an account is or was in, its current one first. */
  everywhere(accountId: string): readonly Storage[];
  /** All databases, the first one first. */
  all(): readonly Storage[];
  /** All databases, the one that a request's id names first. */
  forRequest(requestId: string): readonly Storage[];
}

/** The only database of a service with one. */
export function oneStorage(storage: Storage): Storages {
  const all = [storage];
  return { haveMoved: false, everywhere: () => all, all: () => all, forRequest: () => all };
}
