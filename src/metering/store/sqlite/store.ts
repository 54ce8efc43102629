import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { Random } from "../../../../lib/ids/random.ts";
import type { PicoUsd } from "../../interface.ts";
import { type Run, runKey } from "../../ledger/run.ts";
import {
  type BudgetLease,
  type BudgetRequest,
  type BudgetSpending,
  type Charge,
  type CoreEpoch,
  type Entered,
  type EpochClaim,
  type Heartbeat,
  type Lease,
  type LeasedSlice,
  type LeaseRequest,
  type LedgerStore,
  type SettleOutcome,
  type SliceRange,
  type StoredCharge,
  type StoredSlice,
  slicePage,
} from "../ledger-store.ts";
import { firstLots, freeMoney } from "../spending-order.ts";
import { lineColumns, listNames, usageColumns } from "../usage-columns.ts";
import { closeBudget, giveBackBudget, leaseBudget, spendBudgets } from "./budgets.ts";
import type { Runner } from "./runner.ts";

/** A value too big, a constraint broken, a type that does not fit. https://www.sqlite.org/rescode.html */
const violations: ReadonlySet<number> = new Set([18, 19, 20]);

const openSlicesSql = `
  select slice.id, slice.lot_id as lotId, slice.account_id as accountId, slice.granted, slice.spent, lot.kind,
    lot.priority, lot.price_version_id as priceVersion, lot.created_at as createdAt, lot.expires_at as expiresAt
  from slice join lot on lot.id = slice.lot_id where slice.open`;

const storedSlices = `
  select id, account_id as accountId, granted - spent as unspent from slice where open and core_id = ? and epoch = ?`;

/** Whole accounts only. */
const slicesAfter = `${storedSlices} and account_id > ? and account_id <= (
  select max(account_id) from (
    select account_id from slice where open and core_id = ? and account_id > ? order by account_id limit ?))
  order by account_id`;

/** Lots that one account leases from at once; more only when these do not do. */
const lotsSql = 8;

const page = (paid?: true) =>
  firstLots({ account: "?1", now: "?2", limit: String(lotsSql), ...(paid === undefined ? {} : { paid }) });

const nextLots = `
  select id, kind, priority, price_version_id as priceVersion, created_at as createdAt, expires_at as expiresAt,
    ${freeMoney} as unleased from (${page()})`;

/** Sums may pass what a number holds. */
const factsSql = `
  select cast(coalesce((select sum(${freeMoney}) from (${page()})), 0) as text) as unleased,
    cast(coalesce((select sum(${freeMoney}) from (${page(true)})), 0)
      + coalesce((select sum(slice.granted - slice.spent) from slice join lot on lot.id = slice.lot_id
          where slice.account_id = ?1 and slice.open and lot.kind = 'paid'), 0) as text) as paidLeft`;

const marks = (columns: readonly unknown[]) => columns.map(() => "?").join(", ");

const insertUsageSql = `
  insert into usage (${listNames(usageColumns)}) values (${marks(usageColumns)}) on conflict do nothing`;

const insertLine = `
  insert into usage_line (request_id, run_id, seq, ${listNames(lineColumns)}) values (?, ?, ?, ${marks(lineColumns)})`;

const spend = "update slice set spent = spent + ? where id = ? and open and epoch = ?";

interface LotRow {
  readonly id: string;
  readonly kind: LeasedSlice["kind"];
  readonly priority: number;
  readonly priceVersion: number;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly unleased: number;
}

/** Runs a function while nobody else uses its connection. */
export type Exclusive = <T>(run: (database: DatabaseSync) => T) => Promise<T>;

/** The ledger in a SQLite file: one core, whose slices are whole lots. */
export class SqliteLedgerStore implements LedgerStore {
  readonly shared = false;
  readonly #exclusive: Exclusive;
  readonly #random: Random;
  readonly #coreId: string;
  readonly #statements = new Map<string, StatementSync>();
  #epoch: number;

  /** The epoch is one that this process has begun already; 0: none. */
  constructor(exclusive: Exclusive, random: Random, coreId: string, epoch = 0) {
    this.#exclusive = exclusive;
    this.#random = random;
    this.#coreId = coreId;
    this.#epoch = epoch;
  }

  identify(): Promise<string> {
    return this.#transaction((database) => {
      const run = this.#runner(database);
      const made = [this.#random.uuid()];
      run.run("insert into setting (name, value) values ('database_id', ?) on conflict do nothing", made);
      const named = run.get<{ value: string }>("select value from setting where name = 'database_id'", []);
      if (named === undefined) {
        throw new Error("the database has no name");
      }
      return named.value;
    });
  }

  async epochs(): Promise<CoreEpoch[]> {
    return []; // the lock on the file is the proof that every other process is dead
  }

  enter({ after }: EpochClaim): Promise<Entered> {
    return this.#transaction((database) => {
      const run = this.#runner(database);
      const core = run.get<{ epoch: number }>(
        `insert into core (id, epoch, beats, heartbeat_at)
         select ?, max(coalesce(max(epoch), 0), ?) + 1, 0, 0 from core where id = ? returning epoch`,
        [this.#coreId, after, this.#coreId],
      );
      this.#epoch = core?.epoch ?? 0;
      // The file is this process's alone, so every open slice was left behind, whatever its core was called.
      run.run("update slice set core_id = ?, epoch = ? where open", [this.#coreId, this.#epoch]);
      run.run("delete from core where id = ? and epoch < ?", [this.#coreId, this.#epoch]);
      const adopted = run
        .all<LeasedSlice & { expiresAt: number | null }>(openSlicesSql, [])
        .map((row) => ({ ...row, expiresAt: row.expiresAt ?? undefined }));
      run.run("update budget_slice set core_id = ?, epoch = ? where open", [this.#coreId, this.#epoch]);
      const budgets = run.all<{ id: string }>("select id from budget_slice where open", []);
      return { epoch: this.#epoch, adopted, adoptedBudgets: budgets.map(({ id }) => id) };
    });
  }

  async heartbeat(): Promise<Heartbeat> {
    return { others: [], wasDead: false }; // the lock on the file is the proof that this core is alive and alone
  }

  openSlices(range: SliceRange): Promise<StoredSlice[]> {
    return this.#exclusive((database) => {
      const { all } = this.#runner(database);
      return "accountId" in range
        ? all<StoredSlice>(`${storedSlices} and account_id = ?`, [this.#coreId, this.#epoch, range.accountId])
        : all<StoredSlice>(slicesAfter, [this.#coreId, this.#epoch, range.after, this.#coreId, range.after, slicePage]);
    });
  }

  acquire(requests: readonly LeaseRequest[], now: number): Promise<Map<string, Lease>> {
    return this.#transaction((database) => {
      const run = this.#runner(database);
      const leases = new Map<string, Lease>();
      for (const request of requests) {
        const lease = this.#lease(run, request, now);
        if (lease !== undefined) {
          leases.set(request.accountId, lease);
        }
      }
      return leases;
    });
  }

  #lease(run: Runner, { accountId, least, most }: LeaseRequest, now: number): Lease | undefined {
    const account = run.get<{ createdAt: number; paidTotal: string; debt: string }>(
      `select created_at as createdAt, cast(paid_total as text) as paidTotal, cast(debt as text) as debt
       from account where id = ?`,
      [accountId],
    );
    if (account === undefined) {
      return undefined;
    }
    const slices: LeasedSlice[] = [];
    let granted = 0;
    for (;;) {
      const lots = granted < most ? run.all<LotRow>(nextLots, [accountId, now]) : [];
      for (const lot of lots) {
        const amount = Math.min(lot.unleased, most - granted);
        if (amount > 0) {
          slices.push(this.#makeSlice(run, accountId, lot, amount));
        }
        granted += amount;
      }
      // Lots too small for what is needed make room for the next ones.
      if (lots.length < lotsSql || granted >= least) {
        break;
      }
    }
    const facts = run.get<{ unleased: string; paidLeft: string }>(factsSql, [accountId, now]);
    const { createdAt } = account;
    const debt = BigInt(account.debt);
    const [unleased, paidLeft] = [BigInt(facts?.unleased ?? 0), BigInt(facts?.paidLeft ?? 0)];
    return { createdAt, paidTotal: BigInt(account.paidTotal), paidLeft, slices, unleased, elsewhere: 0n, debt };
  }

  #makeSlice(run: Runner, accountId: string, lot: LotRow, granted: PicoUsd): LeasedSlice {
    const id = this.#random.uuid();
    run.run("update lot set leased = leased + ? where id = ?", [granted, lot.id]);
    run.run(
      `insert into slice (id, lot_id, account_id, core_id, epoch, granted, spent, open)
       values (?, ?, ?, ?, ?, ?, 0, true)`,
      [id, lot.id, accountId, this.#coreId, this.#epoch, granted],
    );
    const { id: lotId, kind, priority, priceVersion, createdAt } = lot;
    const expiresAt = lot.expiresAt ?? undefined;
    return { id, lotId, accountId, kind, priority, priceVersion, createdAt, expiresAt, granted, spent: 0 };
  }

  settle(charges: readonly Charge[]): Promise<SettleOutcome[]> {
    return this.#transaction((database) => {
      const run = this.#runner(database);
      const outcomes = charges.map((charge): SettleOutcome => (insertUsage(run, charge) ? "stored" : "repeated"));
      const stored = charges.filter((_, at) => outcomes[at] === "stored");
      const lost = this.#spend(run, stored);
      for (const [at, charge] of charges.entries()) {
        if (outcomes[at] !== "stored") {
          continue;
        }
        if (lost.size > 0 && charge.lines.some((line) => lost.has(line.sliceId))) {
          this.#undo(run, charge);
          outcomes[at] = "fenced";
        } else {
          insertLines(run, charge);
        }
      }
      spendBudgets(
        run,
        charges.filter((_, at) => outcomes[at] === "stored"),
      );
      return outcomes;
    });
  }

  acquireBudget(request: BudgetRequest): Promise<BudgetLease> {
    return this.#transaction((database) =>
      leaseBudget(this.#runner(database), request, { id: this.#coreId, epoch: this.#epoch }),
    );
  }

  giveBackBudgets(parts: readonly { readonly sliceId: string; readonly amount: number }[]): Promise<void> {
    return this.#transaction((database) => {
      for (const { sliceId, amount } of parts) {
        giveBackBudget(this.#runner(database), sliceId, amount, this.#epoch);
      }
    });
  }

  closeBudgets(sliceIds: readonly string[]): Promise<void> {
    return this.#transaction((database) => {
      for (const id of sliceIds) {
        closeBudget(this.#runner(database), id, this.#epoch);
      }
    });
  }

  budgetSpending(budgetId: string, windowName: string): Promise<BudgetSpending> {
    return this.#exclusive((database) => {
      const found = this.#runner(database).get<BudgetSpending>(
        `select spent + coalesce((select sum(slice.spent) from budget_slice slice
           where slice.budget_id = budget.id and slice.window_name = budget.window_name and slice.open), 0) as spent
         from budget where id = ? and window_name = ?`,
        [budgetId, windowName],
      );
      return { spent: found?.spent ?? 0 };
    });
  }

  /** Spends what charges cost, with one statement for each slice. Returns the slices that are not this core's. */
  #spend(run: Runner, charges: readonly Charge[]): Set<string> {
    const costs = new Map<string, PicoUsd>();
    for (const { lines } of charges) {
      for (const { sliceId, cost } of lines) {
        costs.set(sliceId, (costs.get(sliceId) ?? 0) + cost);
      }
    }
    const lost = new Set<string>();
    for (const [sliceId, cost] of costs) {
      if (run.run(spend, [cost, sliceId, this.#epoch]) === 0) {
        lost.add(sliceId);
      }
    }
    return lost;
  }

  /** Takes back what was done for a charge that turned out to be fenced: almost never. */
  #undo(run: Runner, { requestId, runId, lines }: Charge): void {
    run.run("delete from usage where request_id = ? and run_id = ?", [requestId, runId]);
    for (const { sliceId, cost } of lines) {
      run.run(spend, [-cost, sliceId, this.#epoch]);
    }
  }

  isViolation(error: unknown): boolean {
    const code = ((error as { errcode?: number }).errcode ?? 0) & 0xff; // without what extended codes add
    return violations.has(code);
  }

  settled(runs: readonly Run[]): Promise<Map<string, StoredCharge>> {
    return this.#exclusive((database) => {
      const { get } = this.#runner(database);
      const sql = `select input_tokens as inputTokens, output_tokens as outputTokens, status from usage
        where request_id = ? and run_id = ?`;
      const charges = new Map<string, StoredCharge>();
      for (const run of runs) {
        const stored = get<StoredCharge>(sql, [run.requestId, run.runId]);
        if (stored !== undefined) {
          charges.set(runKey(run), { ...stored });
        }
      }
      return charges;
    });
  }

  isCharged(accountId: string, requestId: string): Promise<boolean> {
    return this.#exclusive((database) => {
      const sql = "select 1 from usage where request_id = ? and account_id = ? limit 1";
      return this.#runner(database).get(sql, [requestId, accountId]) !== undefined;
    });
  }

  giveBack(parts: readonly { readonly sliceId: string; readonly amount: number }[]): Promise<void> {
    return this.#transaction((database) => {
      const run = this.#runner(database);
      for (const { sliceId, amount } of parts) {
        const slice = run.get<{ lotId: string }>(
          "update slice set granted = granted - ? where id = ? and open and epoch = ? returning lot_id as lotId",
          [amount, sliceId, this.#epoch],
        );
        if (slice !== undefined) {
          run.run("update lot set leased = leased - ? where id = ?", [amount, slice.lotId]);
        }
      }
    });
  }

  close(sliceIds: readonly string[]): Promise<void> {
    return this.#transaction((database) => {
      const run = this.#runner(database);
      for (const id of sliceIds) {
        const slice = run.get<{ lotId: string; granted: number; spent: number }>(
          "update slice set open = false where id = ? and open and epoch = ? returning lot_id as lotId, granted, spent",
          [id, this.#epoch],
        );
        if (slice === undefined) {
          continue;
        }
        run.run("update lot set leased = leased - ?, spent = spent + ? where id = ?", [
          slice.granted,
          slice.spent,
          slice.lotId,
        ]);
      }
    });
  }

  async reap(): Promise<number> {
    return 0; // there is no other core
  }

  async announce(): Promise<void> {} // nor one to hear it

  async listen(): Promise<void> {}

  async end(): Promise<void> {} // the connection is its owner's

  #transaction<T>(run: (database: DatabaseSync) => T): Promise<T> {
    return this.#exclusive((database) => {
      const { run: execute } = this.#runner(database);
      execute("begin immediate", []);
      try {
        const result = run(database);
        execute("commit", []);
        return result;
      } catch (error) {
        if (database.isTransaction) {
          database.exec("rollback");
        }
        throw error;
      }
    });
  }

  /** Runs statements, each prepared once. */
  #runner(database: DatabaseSync): Runner {
    const prepare = (sql: string) => {
      let statement = this.#statements.get(sql);
      if (statement === undefined) {
        statement = database.prepare(sql);
        this.#statements.set(sql, statement);
      }
      return statement;
    };
    return {
      run: (sql, values) => Number(prepare(sql).run(...values).changes),
      get: <T>(sql: string, values: SQLInputValue[]) => prepare(sql).get(...values) as T | undefined,
      all: <T>(sql: string, values: SQLInputValue[]) => prepare(sql).all(...values) as T[],
    };
  }
}

/** Makes a receipt. Returns whether there was none before. */
function insertUsage(run: Runner, charge: Charge): boolean {
  const values = usageColumns.map(({ read }) => read(charge));
  return run.run(insertUsageSql, values) > 0;
}

/** Makes the lines of a receipt, and the debt that it leaves. */
function insertLines(run: Runner, { requestId, runId, accountId, shortfall, lines }: Charge): void {
  for (const [seq, line] of lines.entries()) {
    run.run(insertLine, [requestId, runId, seq, ...lineColumns.map(({ read }) => read(line))]);
  }
  if (shortfall > 0) {
    run.run("update account set debt = debt + ? where id = ?", [shortfall, accountId]);
  }
}
