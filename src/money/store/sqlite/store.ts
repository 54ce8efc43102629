import type { Random } from "#lib/ids/random.ts";
import type { Charge } from "../../model/charges/charge.ts";
import type { Run } from "../../model/charges/run.ts";
import type {
  BudgetLease,
  BudgetRequest,
  BudgetSliceRange,
  BudgetSpending,
  BudgetWindowRequest,
  Recount,
  SmallerBudgetSlice,
  SpendingRequest,
  StoredBudgetSlice,
} from "../../model/store/budget.ts";
import type { SettleOutcome, StoredCharge } from "../../model/store/charge.ts";
import type { CoreEpoch, Entered, EpochClaim, Heartbeat } from "../../model/store/core.ts";
import type { LedgerStore } from "../../model/store/ledger.ts";
import type { RecordBounds, RefusedRequest } from "../../model/store/request.ts";
import type { UnseenTally } from "../../model/store/tally.ts";
import type { Lease, LeaseRequest, SliceRange, SmallerSlice, StoredSlice } from "../../model/store/wallet.ts";
import { ChargeWriter, isViolation } from "./charge-writer.ts";
import { Epochs } from "./epochs.ts";
import { type Exclusive, Executor } from "./executor.ts";
import { Receipts } from "./receipts.ts";
import { Requests } from "./requests.ts";
import { Tallies } from "./tallies.ts";
import { Budgets } from "./wallet/budgets.ts";
import { Leases } from "./wallet/leases.ts";
import { Slices } from "./wallet/slices.ts";

/** The ledger in a SQLite file: one core, whose slices are whole lots. */
export class SqliteLedgerStore implements LedgerStore {
  readonly shared = false;
  readonly isLost = false; // the opener of the connection watches its file
  readonly #epochs: Epochs;
  readonly #leases: Leases;
  readonly #slices: Slices;
  readonly #charges: ChargeWriter;
  readonly #budgets: Budgets;
  readonly #tallies: Tallies;
  readonly #receipts: Receipts;
  readonly #requests: Requests;

  /** `epoch`: the one that this process has begun already. Absent: none. */
  constructor(
    exclusive: Exclusive,
    random: Random,
    coreId: string,
    { epoch = 0, usageEvents = false }: { readonly epoch?: number | undefined; readonly usageEvents?: boolean } = {},
  ) {
    const executor = new Executor(exclusive);
    this.#epochs = new Epochs(executor, random, coreId, epoch);
    this.#leases = new Leases(executor, random, this.#epochs);
    this.#slices = new Slices(executor, this.#epochs);
    this.#charges = new ChargeWriter(executor, this.#epochs, usageEvents);
    this.#budgets = new Budgets(executor, this.#epochs);
    this.#tallies = new Tallies(executor);
    this.#receipts = new Receipts(executor);
    this.#requests = new Requests(executor);
  }

  identify(): Promise<string> {
    return this.#epochs.identify();
  }

  async epochs(): Promise<CoreEpoch[]> {
    return []; // the lock on the file proves that every other process is dead
  }

  enter(claim: EpochClaim): Promise<Entered> {
    return this.#epochs.enter(claim);
  }

  async heartbeat(): Promise<Heartbeat> {
    return { others: [], wasDead: false }; // the lock on the file proves that this core is alive and alone
  }

  openSlices(range: SliceRange): Promise<StoredSlice[]> {
    return this.#slices.open(range);
  }

  acquire(requests: readonly LeaseRequest[], now: number): Promise<Map<string, Lease>> {
    return this.#leases.acquire(requests, now);
  }

  giveBack(slices: readonly SmallerSlice[]): Promise<void> {
    return this.#slices.giveBack(slices);
  }

  close(sliceIds: readonly string[]): Promise<void> {
    return this.#slices.close(sliceIds);
  }

  settle(charges: readonly Charge[]): Promise<SettleOutcome[]> {
    return this.#charges.settle(charges);
  }

  isViolation(error: unknown): boolean {
    return isViolation(error);
  }

  settled(runs: readonly Run[]): Promise<Map<string, StoredCharge>> {
    return this.#charges.settled(runs);
  }

  isCharged(accountId: string, requestId: string): Promise<boolean> {
    return this.#charges.isCharged(accountId, requestId);
  }

  openBudgetSlices(range: BudgetSliceRange): Promise<StoredBudgetSlice[]> {
    return this.#budgets.open(range);
  }

  acquireBudget(request: BudgetRequest): Promise<BudgetLease> {
    return this.#budgets.acquire(request);
  }

  giveBackBudgets(slices: readonly SmallerBudgetSlice[]): Promise<void> {
    return this.#budgets.giveBack(slices);
  }

  closeBudgets(sliceIds: readonly string[]): Promise<void> {
    return this.#budgets.close(sliceIds);
  }

  budgetSpending(window: SpendingRequest): Promise<BudgetSpending> {
    return this.#budgets.spending(window);
  }

  recountBudget(window: BudgetWindowRequest): Promise<Recount | undefined> {
    return this.#budgets.recount(window);
  }

  unseenTallies(limit: number): Promise<UnseenTally[]> {
    return this.#tallies.unseen(limit);
  }

  markSeen(tallies: readonly UnseenTally[]): Promise<void> {
    return this.#tallies.markSeen(tallies);
  }

  foldTallies(before: number): Promise<number> {
    return this.#tallies.fold(before);
  }

  /** One table has them all. */
  async makeDays(): Promise<undefined> {}

  removeReceipts(most: number): Promise<number> {
    return this.#receipts.remove(most);
  }

  recordRequests(requests: readonly RefusedRequest[], bounds: RecordBounds): Promise<void> {
    return this.#requests.record(requests, bounds);
  }

  async reap(): Promise<number> {
    return 0; // there is no other core
  }

  async announce(): Promise<void> {} // there is no other core to hear it

  async listen(): Promise<void> {}

  async end(): Promise<void> {} // the connection belongs to its owner
}
