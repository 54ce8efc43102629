import { startThread } from "#lib/assets.ts";
import { DatabaseThread, type ThreadLife } from "#src/storage/sqlite/database-thread.ts";
import type { OpenedFiles } from "#src/storage/sqlite/opened-files.ts";
import type { Charge } from "../../model/charges/charge.ts";
import type { Run } from "../../model/charges/run.ts";
import type {
  BudgetLease,
  BudgetRequest,
  BudgetSliceRange,
  BudgetSpending,
  BudgetWindowRequest,
  SmallerBudgetSlice,
  SpendingRequest,
  StoredBudgetSlice,
} from "../../model/store/budget.ts";
import type { SettleOutcome, StoredCharge } from "../../model/store/charge.ts";
import type { CoreBeat, CoreEpoch, Entered, EpochClaim, Heartbeat } from "../../model/store/core.ts";
import type { LedgerStore } from "../../model/store/ledger.ts";
import type { RecordBounds, RefusedRequest } from "../../model/store/request.ts";
import type { UnseenTally } from "../../model/store/tally.ts";
import type { Lease, LeaseRequest, SliceRange, SmallerSlice, StoredSlice } from "../../model/store/wallet.ts";
import { unavailable } from "../../model/unavailable.ts";
import { type FlatCharges, flatten } from "../flat-charges.ts";
import { isViolation } from "./charge-writer.ts";
import type { StoreMethod, StoreSetup } from "./worker.ts";

/**
 * The ledger in a SQLite file, written by a thread of its own: a commit waits for the disk, from a tenth of a
 * millisecond to several, and would stop every stream of the process meanwhile.
 */
export class SqliteThreadStore implements LedgerStore {
  readonly shared = false;
  readonly isViolation = isViolation;
  readonly #thread: DatabaseThread;
  readonly #files: OpenedFiles;
  /** A restarted thread continues the epoch of the one before: the slices still belong to this process. */
  #epoch = 0;

  constructor(path: string, files: OpenedFiles, coreId: string, life: ThreadLife & { readonly usageEvents?: boolean }) {
    const { usageEvents = false } = life;
    this.#files = files;
    const make = () => {
      const workerData: StoreSetup = { path, files: files.known, coreId, epoch: this.#epoch, usageEvents };
      return startThread("src/money/store/sqlite/worker", { workerData });
    };
    this.#thread = new DatabaseThread(make, life, (cause) =>
      unavailable("The ledger cannot be reached at the moment.", cause),
    );
  }

  get isLost(): boolean {
    return this.#files.lost !== undefined;
  }

  identify(): Promise<string> {
    return this.#call("identify");
  }

  epochs(): Promise<CoreEpoch[]> {
    return this.#call("epochs");
  }

  async enter(claim: EpochClaim): Promise<Entered> {
    const entered = await this.#call("enter", claim);
    this.#epoch = entered.epoch;
    return entered;
  }

  heartbeat(): Promise<Heartbeat> {
    return this.#call("heartbeat");
  }

  openSlices(range: SliceRange): Promise<StoredSlice[]> {
    return this.#call("openSlices", range);
  }

  acquire(requests: readonly LeaseRequest[], now: number): Promise<Map<string, Lease>> {
    return this.#call("acquire", requests, now);
  }

  settle(charges: readonly Charge[]): Promise<SettleOutcome[]> {
    return this.#call("settle", flatten(charges));
  }

  settled(runs: readonly Run[]): Promise<Map<string, StoredCharge>> {
    const bare = runs.map(({ requestId, runId }) => ({ requestId, runId }));
    return this.#call("settled", bare);
  }

  isCharged(accountId: string, requestId: string): Promise<boolean> {
    return this.#call("isCharged", accountId, requestId);
  }

  giveBack(slices: readonly SmallerSlice[]): Promise<void> {
    return this.#call("giveBack", slices);
  }

  close(sliceIds: readonly string[]): Promise<void> {
    return this.#call("close", sliceIds);
  }

  openBudgetSlices(range: BudgetSliceRange): Promise<StoredBudgetSlice[]> {
    return this.#call("openBudgetSlices", range);
  }

  acquireBudget(request: BudgetRequest): Promise<BudgetLease> {
    return this.#call("acquireBudget", request);
  }

  giveBackBudgets(slices: readonly SmallerBudgetSlice[]): Promise<void> {
    return this.#call("giveBackBudgets", slices);
  }

  closeBudgets(sliceIds: readonly string[]): Promise<void> {
    return this.#call("closeBudgets", sliceIds);
  }

  budgetSpending(window: SpendingRequest): Promise<BudgetSpending> {
    return this.#call("budgetSpending", window);
  }

  recountBudget(window: BudgetWindowRequest): Promise<boolean> {
    return this.#call("recountBudget", window);
  }

  unseenTallies(limit: number): Promise<UnseenTally[]> {
    return this.#call("unseenTallies", limit);
  }

  markSeen(tallies: readonly UnseenTally[]): Promise<void> {
    return this.#call("markSeen", tallies);
  }

  foldTallies(before: number): Promise<number> {
    return this.#call("foldTallies", before);
  }

  removeReceipts(before: number, most: number): Promise<number> {
    return this.#call("removeReceipts", before, most);
  }

  recordRequests(requests: readonly RefusedRequest[], bounds: RecordBounds): Promise<void> {
    return this.#call("recordRequests", requests, bounds);
  }

  reap(dead: readonly CoreBeat[]): Promise<number> {
    return this.#call("reap", dead);
  }

  async announce(): Promise<void> {} // there is no other core

  async listen(): Promise<void> {}

  end(): Promise<void> {
    return this.#thread.close();
  }

  #call<Method extends StoreMethod>(
    method: Method,
    ...parameters: Method extends "settle" ? [FlatCharges] : Parameters<LedgerStore[Method]>
  ): ReturnType<LedgerStore[Method]> {
    return this.#thread.call(method, parameters) as ReturnType<LedgerStore[Method]>;
  }
}
