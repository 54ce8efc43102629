import type { LeasedSlice } from "./wallet.ts";

/** A core without a heartbeat for this long is taken for dead, and its slices are given back. */
export const deadAfterMs = 30_000;

/** A core's heartbeat counter when it was read. */
export interface CoreBeat {
  readonly coreId: string;
  readonly epoch: number;
  /** Counts the heartbeats of this epoch. It does not tell their times. */
  readonly beats: number;
}

/** An epoch of this core as the store knows it. */
export interface CoreEpoch extends CoreBeat {
  /** The lock that its process held. Null: unknown. */
  readonly instance: string | null;
  /** True when another core has taken it for dead and no heartbeat came since. */
  readonly dead: boolean;
}

/** The facts that a process claims when it begins an epoch. */
export interface EpochClaim {
  /**
   * The lock that the process holds while it runs. Undefined: it has none and takes nothing over from earlier
   * processes.
   */
  readonly instance: string | undefined;
  /** The last epoch that the process knows of, even if the store has forgotten it. 0: none. */
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
   * True when this core may have lost its slices: another core took it for dead after its last answered heartbeat, or
   * the store has gone back to a state before that heartbeat.
   */
  readonly wasDead: boolean;
}

/** Knows which cores are alive, and thus who owns which slices. */
export interface CoreStore {
  /** Returns the database's id, which stays the same however the database is reached, moved or restored. */
  identify(): Promise<string>;
  /** The epochs of this core so far, newest first. Empty when no other process can use the store. */
  epochs(): Promise<CoreEpoch[]>;
  /**
   * Begins a new epoch of this core. Takes over the open slices of earlier epochs under the same lock, whose processes
   * are certainly dead. Slices of any other epoch stay with it until it is taken for dead.
   */
  enter(claim: EpochClaim): Promise<Entered>;
  /** Renews this epoch's ownership of its slices. */
  heartbeat(): Promise<Heartbeat>;
  /**
   * Takes cores for dead whose heartbeat counters have not changed, and ends slices of all dead cores, at most 1,000.
   * Returns how many it ended.
   */
  reap(dead: readonly CoreBeat[]): Promise<number>;
}
