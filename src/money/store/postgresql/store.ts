import type { Pool } from "pg";
import type { Random } from "#lib/ids/random.ts";
import type { History } from "#src/storage/postgresql/history.ts";
import type { Heard } from "../../model/announcements.ts";
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
import type { CoreBeat, CoreEpoch, Entered, EpochClaim, Heartbeat } from "../../model/store/core.ts";
import type { LedgerStore } from "../../model/store/ledger.ts";
import type { RecordBounds, RefusedRequest } from "../../model/store/request.ts";
import type { CountedWindow, UnseenTally } from "../../model/store/tally.ts";
import type { Lease, LeaseRequest, SliceRange, SmallerSlice, StoredSlice } from "../../model/store/wallet.ts";
import { Announcements } from "./announcements.ts";
import { ChargeWriter, isViolation } from "./charge-writer.ts";
import { Days } from "./days.ts";
import { Epochs } from "./epochs.ts";
import { Executor } from "./executor.ts";
import { Receipts } from "./receipts.ts";
import { Requests } from "./requests.ts";
import { Tallies } from "./tallies.ts";
import { Budgets } from "./wallet/budgets.ts";
import { Leases } from "./wallet/leases.ts";
import { Slices } from "./wallet/slices.ts";

/** The connections to PostgreSQL. */
export interface Connections {
  readonly pool: Pool;
  /** Whether a pooler may give each transaction another session, which does not know our prepared statements. */
  readonly pooled: boolean;
  /**
   * Connections to the server itself, to listen for other cores. The store ends them. Undefined: the pool's, unless
   * pooled.
   */
  readonly listening?: Pool | undefined;
  /** Tells when the database changes hands. Undefined: nobody can tell. */
  readonly history?: Pick<History, "turns"> | undefined;
}

interface Options {
  readonly usageEvents?: boolean;
  readonly dayMissing?: ((day: number) => void) | undefined;
}

/**
 * The ledger in PostgreSQL: many cores, each with slices of the lots. Every statement is atomic. Rows are locked in the
 * order slice, account, lot, and by id within a table.
 */
export class PostgresqlLedgerStore implements LedgerStore {
  readonly shared = true;
  readonly isLost = false; // the server keeps its files
  readonly #epochs: Epochs;
  readonly #leases: Leases;
  readonly #slices: Slices;
  readonly #days: Days;
  readonly #charges: ChargeWriter;
  readonly #budgets: Budgets;
  readonly #tallies: Tallies;
  readonly #receipts: Receipts;
  readonly #requests: Requests;
  readonly #announcements: Announcements;
  readonly #listening: Pool | undefined;

  /**
   * `usageEvents`: charges are noted for the receiver of usage events. `dayMissing` is called with each day whose table
   * was missing when a charge came.
   */
  constructor(
    { pool, pooled, listening, history }: Connections,
    random: Random,
    coreId: string,
    { usageEvents = false, dayMissing = () => {} }: Options = {},
  ) {
    const executor = new Executor(pool, pooled);
    this.#epochs = new Epochs(executor, random, coreId);
    this.#leases = new Leases(executor, random, this.#epochs);
    this.#slices = new Slices(executor, this.#epochs);
    this.#days = new Days(executor, pool, dayMissing);
    this.#charges = new ChargeWriter(executor, this.#epochs, this.#days, usageEvents);
    this.#budgets = new Budgets(executor, this.#epochs);
    this.#tallies = new Tallies(executor, history);
    this.#receipts = new Receipts(executor, pool);
    this.#requests = new Requests(executor);
    this.#listening = listening;
    // A pooler's session hears nothing: it belongs to another client the next moment.
    this.#announcements = new Announcements(
      { announce: pool, listen: listening ?? (pooled ? undefined : pool) },
      random.uuid(),
    );
  }

  identify(): Promise<string> {
    return this.#epochs.identify();
  }

  epochs(): Promise<CoreEpoch[]> {
    return this.#epochs.known();
  }

  enter(claim: EpochClaim): Promise<Entered> {
    return this.#epochs.enter(claim);
  }

  heartbeat(): Promise<Heartbeat> {
    return this.#epochs.heartbeat();
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

  markSeen(tallies: readonly UnseenTally[], counted?: readonly CountedWindow[], turns?: number): Promise<void> {
    return this.#tallies.markSeen(tallies, counted, turns);
  }

  foldTallies(before: number): Promise<number> {
    return this.#tallies.fold(before);
  }

  makeDays(now: number, isMine: () => Promise<boolean>): Promise<number> {
    return this.#days.makeAhead(now, isMine);
  }

  removeReceipts(most: number): Promise<number> {
    return this.#receipts.remove(most);
  }

  recordRequests(requests: readonly RefusedRequest[], bounds: RecordBounds): Promise<void> {
    return this.#requests.record(requests, bounds);
  }

  async reap(dead: readonly CoreBeat[]): Promise<number> {
    await this.#epochs.bury(dead);
    await this.#budgets.reap();
    return this.#slices.reap();
  }

  announce(accountId: string): Promise<void> {
    return this.#announcements.announce(accountId);
  }

  listen(heard: Heard): Promise<void> {
    return this.#announcements.listen(heard);
  }

  async end(): Promise<void> {
    this.#announcements.end();
    await this.#listening?.end(); // the other pool belongs to its owner
  }
}
