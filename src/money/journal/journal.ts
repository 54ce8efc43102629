import type { Charge } from "../model/charges/charge.ts";
import type { Run } from "../model/charges/run.ts";
import type { ChargedTokens } from "../model/interface.ts";
import type { Rates } from "../model/rates.ts";

/** A running request as the journal knows it. */
export interface JournalEntry extends Run {
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  /** The engine's last known count. */
  readonly tokens: ChargedTokens;
  /** The terms of its admission: none of its tokens costs more. Absent: unknown. */
  readonly maxRates?: Rates;
  /** The slice of its key's budget that its cost counts in. Absent: the key has no budget. */
  readonly budgetSliceId?: string;
  /**
   * The first moment of its budget's window, in milliseconds since the epoch. Absent: the key has no budget, or an older
   * version has written it.
   */
  readonly settleFrom?: number;
  /** The last moment of that window. Absent: the key has no budget. */
  readonly settleBy?: number;
  /** Its attribution labels, as in Charge. Absent: none. */
  readonly labels?: string | undefined;
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
  /** The epoch of the last process in this database. 0: unknown, or there was none. */
  readonly epoch: number;
  /** Charges that were promised but perhaps never reached the store. */
  readonly charges: readonly Charge[];
  /** Requests that were running. */
  readonly running: readonly JournalEntry[];
}

/**
 * The core's write-ahead log of what runs, for when the core dies or the store is away. The operating system holds
 * notes, so they survive a kill but not a power cut. Only promises are synced to the disk.
 */
export interface Journal {
  /** Names the lock that this process holds on the journal; earlier holders of it are dead. Undefined: there is no lock. */
  readonly instance: string | undefined;
  /**
   * Reads what the last process left. Rejects when it belongs to another database or another core, where it would be
   * charged although it never ran there.
   */
  read(databaseId: string): Promise<JournalRemains>;
  /** Writes the journal's owner from now on. */
  begin(owner: Pick<JournalOwner, "databaseId" | "epoch">): void;
  /** True when the journal outlives this process, so that a promise is as good as stored. */
  readonly lasting: boolean;
  /** False when the journal cannot be written: no new request should run, because a crash would lose it. */
  readonly healthy: boolean;
  /** Its size in bytes. */
  readonly size: number;
  /** The number of damaged records that are set aside for an operator to look at. */
  readonly setAside: number;
  /** Notes a request, or its progress. */
  note(entry: JournalEntry): void;
  /** Forgets a request: its charge is stored, or there is none. */
  forget(run: Run): void;
  /**
   * Resolves when the charges that end in the same turn of the event loop have come, so that one sync covers all of
   * them.
   */
  gather(): Promise<void>;
  /** Makes charges survive anything but the loss of the disk. Returns whether that succeeded. */
  promise(charges: readonly Charge[]): Promise<boolean>;
  close(): Promise<void>;
}

/** A journal that remembers nothing: for a store in memory, which dies with the process anyway. */
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
