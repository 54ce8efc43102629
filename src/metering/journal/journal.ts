import type { ChargedTokens } from "../interface.ts";
import type { Run } from "../ledger/run.ts";
import type { Charge } from "../ledger/settlement/charge.ts";
import type { Rates } from "../prices/interface.ts";

/** A running request as the journal knows it. */
export interface JournalEntry extends Run {
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  /** The engine's last known count. */
  readonly tokens: ChargedTokens;
  /** The terms of its admission: no token of it costs more. Absent: an earlier version of the program noted it. */
  readonly maxRates?: Rates;
  /** The slice of its key's budget that its cost counts in. Absent: there is no budget. */
  readonly budgetSliceId?: string;
  /** The last moment of its budget's window, in milliseconds since the epoch. Absent: there is no budget. */
  readonly settleBy?: number;
}

/** The owner of a journal: its charges are made in this database alone, by this core. */
export interface JournalOwner {
  readonly databaseId: string;
  readonly coreId: string;
  /** The core's last epoch, even if the database has forgotten it. */
  readonly epoch: number;
}

/** Charges and requests that a dead process left in its journal. */
export interface JournalRemains {
  /** The epoch of the last process in this database; 0: not known, or there was none. */
  readonly epoch: number;
  /** Charges that were promised but perhaps never reached the store. */
  readonly charges: readonly Charge[];
  /** Requests that were running. */
  readonly running: readonly JournalEntry[];
}

/**
 * The core's own memory of what runs, for when it dies or the store is away. Notes are kept by the
 * operating system, so they outlive a kill but not a power cut; only a promise is synced to the disk.
 */
export interface Journal {
  /** Names the lock that this process holds on the journal; earlier holders of it are dead. Undefined: there is no lock. */
  readonly instance: string | undefined;
  /**
   * Reads the remains of the process before this one. Rejects when they are of another database or another core, where
   * they would be charged although they never ran there.
   */
  read(databaseId: string): Promise<JournalRemains>;
  /** Writes whose the journal is from now on. */
  begin(owner: Pick<JournalOwner, "databaseId" | "epoch">): void;
  /** True when the journal outlives this process, so that a promise is as good as stored. */
  readonly lasting: boolean;
  /** False when the journal cannot be written to: nothing new should run, since a crash would lose it. */
  readonly healthy: boolean;
  /** Its size in bytes. */
  readonly size: number;
  /** The number of damaged records that were put aside for an operator to look at. */
  readonly setAside: number;
  /** Notes a request, or how far it has come. */
  note(entry: JournalEntry): void;
  /** Notes that a request needs no remembering: its charge is stored, or there is none. */
  forget(run: Run): void;
  /** Resolves when the charges that end in the same turn of the event loop have come: one sync is enough for all of them. */
  gather(): Promise<void>;
  /** Makes charges survive anything but the loss of the disk. Returns whether it could. */
  promise(charges: readonly Charge[]): Promise<boolean>;
  close(): Promise<void>;
}

/** Remembers nothing: for a store in memory, which dies with the process anyway. */
export const noJournal: Journal = {
  instance: undefined,
  lasting: false,
  read: async () => ({ epoch: 0, charges: [], running: [] }),
  begin() {},
  healthy: true,
  size: 0,
  setAside: 0,
  note() {},
  forget() {},
  gather: async () => {},
  promise: async () => false,
  close: async () => {},
};
