import type { LeasedSlice } from "../wallet/wallet-store.ts";

/** A core whose heart has not beaten for this long is taken for dead, and its slices are given back. */
export const deadAfterMs = 30_000;

/** A core's heartbeat counter when it was read. */
export interface CoreBeat {
  readonly coreId: string;
  readonly epoch: number;
  /** Counts the beats of this epoch, and says nothing of when they were. */
  readonly beats: number;
}

/** An epoch of this core as the store knows it. */
export interface CoreEpoch extends CoreBeat {
  /** The lock that its process held. Null: not known. */
  readonly instance: string | null;
  /** True when another core has taken it for dead and it has not beaten since. */
  readonly dead: boolean;
}

/** The facts that a process claims when it begins an epoch. */
export interface EpochClaim {
  /** The lock that it holds as long as it runs. Undefined: none, so it takes nothing over from earlier processes. */
  readonly instance: string | undefined;
  /** The last epoch known to the process, even if the store has forgotten it; 0: none. */
  readonly after: number;
}

/** A new epoch. */
export interface Entered {
  readonly epoch: number;
  /** Slices taken over from earlier processes. */
  readonly adopted: readonly LeasedSlice[];
  /** Open slices of budgets taken over from earlier processes. */
  readonly adoptedBudgets: readonly string[];
}

/** The reply to a heartbeat. */
export interface Heartbeat {
  /** The other cores that no core has taken for dead. */
  readonly others: readonly CoreBeat[];
  /**
   * True when this core's slices may be gone: another core took it for dead after its last answered beat, or the store has
   * gone back to before that beat.
   */
  readonly wasDead: boolean;
}

/** Knows which cores live, and so whose the slices are. */
export interface CoreStore {
  /** Names the database, however it is reached, moved or restored. */
  identify(): Promise<string>;
  /** The epochs of this core so far, the newest first. None where no other process can have the store. */
  epochs(): Promise<CoreEpoch[]>;
  /**
   * Begins a new epoch of this core. Takes over the open slices of earlier epochs under the same lock, whose processes
   * are surely dead; slices of any other epoch stay with it until it is taken for dead.
   */
  enter(claim: EpochClaim): Promise<Entered>;
  /** Keeps the slices of this epoch its own. */
  heartbeat(): Promise<Heartbeat>;
  /**
   * Takes cores for dead whose hearts are still where they were, and ends slices of all that are dead, at most 1,000.
   * Returns how many.
   */
  reap(dead: readonly CoreBeat[]): Promise<number>;
}
