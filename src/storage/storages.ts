import type { Storage } from "./orm.ts";

/** The databases that accounts live on. Each method throws LEDGER_UNAVAILABLE for one that has not been reached since the start. */
export interface Storages {
  /** Whether an account has ever moved from one to another. */
  readonly haveMoved: boolean;
  /** Those that an account is or was in, the one that it is in first. */
  everywhere(accountId: string): readonly Storage[];
  /** All of them, the first one first. */
  all(): readonly Storage[];
  /** All of them, that which a request's id names first. */
  forRequest(requestId: string): readonly Storage[];
}

/** The one database of a service that has no more. */
export function oneStorage(storage: Storage): Storages {
  const all = [storage];
  return { haveMoved: false, everywhere: () => all, all: () => all, forRequest: () => all };
}
