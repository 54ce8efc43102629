import type { Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from "pg";
import type { Random } from "../../../../lib/ids/random.ts";
import { retryConflicts } from "../../../storage/retry.ts";
import { type Run, runKey } from "../../ledger/run.ts";
import {
  type BudgetLease,
  type BudgetRequest,
  type BudgetSpending,
  type Charge,
  type CoreBeat,
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
import { Announcements } from "./announcements.ts";
import * as budgets from "./budgets.ts";
import * as sql from "./statements.ts";
import { settleValues } from "./values.ts";

/** Lots that one account leases from at once. */
const lotsSql = 8;
/** So many when they are so small that less does not do. */
const mostLots = 512;
/** A statement without an answer for this long has failed as far as we can tell. */
const timeoutMs = 10_000;
/** Slices of budgets that are taken from dead cores at once. */
const mostReaped = 1000;
/** Processes of one core that may begin at the same moment. */
const mostEntries = 10;
const uniqueViolation = "23505";

/** How PostgreSQL is reached. */
export interface Connections {
  readonly pool: Pool;
  /** Whether a pooler may give each transaction another session, which then does not know our statements. */
  readonly pooled: boolean;
  /** Connections to the server itself, to hear other cores on; ended with the store. Undefined: the pool's, unless pooled. */
  readonly listening?: Pool | undefined;
}

/** The ledger in PostgreSQL: many cores, each with slices of the lots. */
export class PostgresqlLedgerStore implements LedgerStore {
  readonly shared = true;
  readonly #pool: Pool;
  readonly #pooled: boolean;
  readonly #listening: Pool | undefined;
  readonly #random: Random;
  readonly #coreId: string;
  readonly #announcements: Announcements;
  #epoch = 0;
  #instance: string | null = null;
  /** The last beat that was answered. */
  #beats = 0;
  #cores = 1;

  constructor({ pool, pooled, listening }: Connections, random: Random, coreId: string) {
    this.#pool = pool;
    this.#pooled = pooled;
    this.#listening = listening;
    this.#random = random;
    this.#coreId = coreId;
    // A session of a pooler's hears nothing: what is listened on belongs to somebody else in the next moment.
    this.#announcements = new Announcements(
      { announce: pool, listen: listening ?? (pooled ? undefined : pool) },
      random.uuid(),
    );
  }

  async identify(): Promise<string> {
    const ask = () => this.#query<{ value: string }>(this.#pool, sql.identifySql, [this.#random.uuid()]);
    // Another core may name it in the moment between: the second answer has its name.
    const name = (await ask()).rows[0]?.value ?? (await ask()).rows[0]?.value;
    if (name === undefined) {
      throw new Error("the database has no name");
    }
    return name;
  }

  async epochs(): Promise<CoreEpoch[]> {
    return (await this.#query<CoreEpoch>(this.#pool, sql.epochsSql, [this.#coreId])).rows;
  }

  async enter(claim: EpochClaim): Promise<Entered> {
    this.#instance = claim.instance ?? null;
    const { epoch, beats } = await this.#begin(claim.after);
    this.#epoch = epoch;
    this.#beats = beats;
    const values = [this.#coreId, epoch, this.#instance];
    const adopted = await this.#query<SliceRow>(this.#pool, sql.adoptSql, values);
    const adoptedBudgets = await this.#query<{ id: string }>(this.#pool, budgets.adoptBudgetsSql, values);
    await this.#query(this.#pool, sql.forgetAdopted, values);
    return { epoch, adopted: adopted.rows.map(toSlice), adoptedBudgets: adoptedBudgets.rows.map(({ id }) => id) };
  }

  /** Two processes that begin at the same moment get an epoch each: the second one asks again. */
  async #begin(after: number): Promise<{ epoch: number; beats: number }> {
    for (let attempt = 1; ; attempt++) {
      try {
        const values = [this.#coreId, this.#instance, after];
        const { rows } = await this.#query<{ epoch: number; beats: number }>(this.#pool, sql.enterSql, values);
        if (rows[0] !== undefined) {
          return rows[0];
        }
      } catch (error) {
        if (attempt > mostEntries || (error as { code?: unknown }).code !== uniqueViolation) {
          throw error;
        }
      }
    }
  }

  async heartbeat(): Promise<Heartbeat> {
    const values = [this.#coreId, this.#epoch, this.#beats];
    const { rows } = await this.#query<HeartbeatRow>(this.#pool, sql.heartbeatSql, values);
    if (rows[0] === undefined) {
      return this.#enterAgain();
    }
    const { beats, was_dead: wasDead, others } = rows[0];
    this.#beats = beats;
    this.#cores = others.length + 1;
    return { others, wasDead };
  }

  /** The database has lost this epoch, perhaps by a failover into the past: whatever it had leased is in doubt. */
  async #enterAgain(): Promise<Heartbeat> {
    await this.#query(this.#pool, sql.enterAgain, [this.#coreId, this.#epoch, this.#instance]);
    this.#beats = 1;
    return { others: [], wasDead: true };
  }

  async openSlices(range: SliceRange): Promise<StoredSlice[]> {
    const mine = [this.#coreId, this.#epoch];
    const { rows } = await ("accountId" in range
      ? this.#query<StoredSliceRow>(this.#pool, sql.accountSlices, [...mine, range.accountId])
      : this.#query<StoredSliceRow>(this.#pool, sql.slicePage, [...mine, range.after, slicePage]));
    return rows.map((row) => ({ id: row.id, accountId: row.account_id, unspent: Number(row.unspent) }));
  }

  acquire(requests: readonly LeaseRequest[], now: number): Promise<Map<string, Lease>> {
    const accounts = requests.map((request) => request.accountId);
    const at = new Date(now);
    return this.#transaction(async (client) => {
      const slices: LeasedSlice[] = [];
      // Those whose first lots are too small for what they need take more of them, and then still more.
      for (let lots = lotsSql, wanting = requests; ; lots = Math.min(4 * lots, mostLots)) {
        slices.push(...(await this.#lease(client, wanting, at, lots)));
        const facts = await this.#query<FactsRow>(client, sql.factsSql, [
          accounts,
          this.#coreId,
          at,
          lotsSql,
          this.#epoch,
        ]);
        const byAccount = Map.groupBy(slices, (slice) => slice.accountId);
        const leases = facts.rows.map((row) => [row.id, toLease(row, byAccount.get(row.id) ?? [])] as const);
        const found = new Map(leases);
        wanting = requests.map((request) => lacking(request, found.get(request.accountId))).filter(wantsMore);
        if (wanting.length === 0 || slices.length >= mostLots) {
          return found;
        }
      }
    });
  }

  /** Leases from the first lots of each account. */
  async #lease(
    client: PoolClient,
    requests: readonly LeaseRequest[],
    at: Date,
    lots: number,
  ): Promise<readonly LeasedSlice[]> {
    const accounts = requests.map((request) => request.accountId);
    // One statement locks the lots; the next one then sees their newest state.
    const locked = await this.#query<{ id: string }>(client, sql.lockLots, [accounts, at, lots]);
    const { rows } = await this.#query<SliceRow>(client, sql.leaseSql, [
      accounts,
      requests.map((request) => request.least),
      requests.map((request) => request.most),
      accounts.flatMap(() => Array.from({ length: lots }, () => this.#random.uuid())),
      lots,
      this.#cores,
      at,
      this.#coreId,
      this.#epoch,
      locked.rows.map((lot) => lot.id),
    ]);
    return rows.map(toSlice);
  }

  async settle(group: readonly Charge[]): Promise<SettleOutcome[]> {
    // The same run twice in one group is settled for its first charge alone.
    const first = new Map<string, number>();
    for (const [at, charge] of group.entries()) {
      const key = runKey(charge);
      if (!first.has(key)) {
        first.set(key, at);
      }
    }
    const places = [...first.values()];
    const charges = places.length === group.length ? group : places.map((at) => group[at] as Charge);
    const { rows } = await this.#query<{ n: number; fenced: boolean }>(this.#pool, sql.settleSql, [
      ...settleValues(charges),
      this.#coreId,
      this.#epoch,
    ]);
    const outcomes = new Array<SettleOutcome>(group.length).fill("repeated");
    for (const at of places) {
      outcomes[at] = "stored";
    }
    for (const { n, fenced } of rows) {
      outcomes[places[n - 1] as number] = fenced ? "fenced" : "repeated";
    }
    return outcomes;
  }

  isViolation(error: unknown): boolean {
    const state = String((error as { code?: unknown }).code);
    return /^(22|23|54)/.test(state); // impossible data, broken constraints, limits of the server passed
  }

  async settled(runs: readonly Run[]): Promise<Map<string, StoredCharge>> {
    const values = [runs.map(({ requestId }) => requestId), runs.map(({ runId }) => runId)];
    const { rows } = await this.#query<StoredChargeRow>(this.#pool, sql.settledSql, values);
    return new Map(rows.map((row) => [runKey({ requestId: row.request_id, runId: row.run_id }), toStoredCharge(row)]));
  }

  async isCharged(accountId: string, requestId: string): Promise<boolean> {
    return (await this.#query(this.#pool, sql.isChargedSql, [accountId, requestId])).rows.length > 0;
  }

  async giveBack(parts: readonly { readonly sliceId: string; readonly amount: number }[]): Promise<void> {
    if (parts.length === 0) {
      return;
    }
    const ids = parts.map((part) => part.sliceId);
    const amounts = parts.map((part) => part.amount);
    await this.#query(this.#pool, sql.giveBackSql, [ids, amounts, this.#coreId, this.#epoch]);
  }

  async close(sliceIds: readonly string[]): Promise<void> {
    if (sliceIds.length > 0) {
      await this.#query(this.#pool, sql.closeSql, [sliceIds, this.#coreId, this.#epoch]);
    }
  }

  async reap(dead: readonly CoreBeat[]): Promise<number> {
    if (dead.length > 0) {
      const column = <Name extends keyof CoreBeat>(name: Name) => dead.map((core) => core[name]);
      await this.#query(this.#pool, sql.burySql, [column("coreId"), column("epoch"), column("beats")]);
    }
    await this.#query(this.#pool, budgets.reapBudgetsSql, [mostReaped]);
    return (await this.#query(this.#pool, sql.reapSql, [])).rowCount ?? 0;
  }

  acquireBudget(request: BudgetRequest): Promise<BudgetLease> {
    const core = { id: this.#coreId, epoch: this.#epoch, cores: this.#cores };
    const query: budgets.Query = async (client, statement, values) =>
      (await this.#query(client, statement, values)).rows as never;
    return this.#transaction((client) => budgets.leaseBudget(client, query, request, core));
  }

  async giveBackBudgets(parts: readonly { readonly sliceId: string; readonly amount: number }[]): Promise<void> {
    const [ids, amounts] = [parts.map((part) => part.sliceId), parts.map((part) => part.amount)];
    await this.#query(this.#pool, budgets.giveBackBudgetsSql, [ids, amounts, this.#coreId, this.#epoch]);
  }

  async closeBudgets(sliceIds: readonly string[]): Promise<void> {
    await this.#query(this.#pool, budgets.closeBudgetsSql, [sliceIds, this.#coreId, this.#epoch]);
  }

  async budgetSpending(budgetId: string, windowName: string): Promise<BudgetSpending> {
    const values = [budgetId, windowName];
    const { rows } = await this.#query<{ spent: string }>(this.#pool, budgets.budgetSpendingSql, values);
    return { spent: Number(rows[0]?.spent ?? 0) };
  }

  announce(accountId: string): Promise<void> {
    return this.#announcements.announce(accountId);
  }

  listen(heard: (accountId: string) => void): Promise<void> {
    return this.#announcements.listen(heard);
  }

  async end(): Promise<void> {
    this.#announcements.end();
    await this.#listening?.end(); // the other pool is its owner's
  }

  /** Runs a statement that the server plans once a connection; behind a pooler, anew each time. */
  #query<Row extends QueryResultRow>(
    on: Pool | PoolClient,
    { name, text }: sql.Statement,
    values: unknown[],
  ): Promise<QueryResult<Row>> {
    const statement = { ...(this.#pooled ? {} : { name }), text, values, query_timeout: timeoutMs };
    const run = () => on.query<Row>(statement as QueryConfig);
    return "totalCount" in on ? retryConflicts(run) : run(); // within a transaction it is that which is run anew
  }

  #transaction<T>(run: (client: PoolClient) => Promise<T>): Promise<T> {
    return retryConflicts(() => this.#tryTransaction(run));
  }

  async #tryTransaction<T>(run: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let failed = true;
    try {
      await client.query("begin isolation level read committed");
      const result = await run(client);
      await client.query("commit");
      failed = false;
      return result;
    } finally {
      client.release(failed); // a connection in an unknown state is not used again
    }
  }
}

/** What of a request a lease has not met; undefined: nothing that could be met. */
function lacking(request: LeaseRequest, lease: Lease | undefined): LeaseRequest | undefined {
  const got = lease?.slices.reduce((sum, slice) => sum + slice.granted, 0) ?? 0;
  if (lease === undefined || lease.unleased === 0n || got >= request.least) {
    return undefined;
  }
  return { accountId: request.accountId, least: request.least - got, most: request.most - got };
}

const wantsMore = (request: LeaseRequest | undefined): request is LeaseRequest => request !== undefined;

interface HeartbeatRow {
  readonly beats: number;
  readonly was_dead: boolean;
  readonly others: readonly CoreBeat[];
}

interface SliceRow {
  readonly id: string;
  readonly lot_id: string;
  readonly account_id: string;
  readonly kind: LeasedSlice["kind"];
  readonly priority: number;
  readonly price_version_id: number;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly granted: string;
  readonly spent: string;
}

interface StoredSliceRow {
  readonly id: string;
  readonly account_id: string;
  readonly unspent: string;
}

interface StoredChargeRow {
  readonly request_id: string;
  readonly run_id: string;
  readonly input_tokens: string;
  readonly output_tokens: string;
  readonly status: StoredCharge["status"];
}

function toStoredCharge(row: StoredChargeRow): StoredCharge {
  return { inputTokens: Number(row.input_tokens), outputTokens: Number(row.output_tokens), status: row.status };
}

function toSlice(row: SliceRow): LeasedSlice {
  return {
    id: row.id,
    lotId: row.lot_id,
    accountId: row.account_id,
    kind: row.kind,
    priority: row.priority,
    priceVersion: row.price_version_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    granted: Number(row.granted),
    spent: Number(row.spent),
  };
}

interface FactsRow {
  readonly id: string;
  readonly created_at: number;
  readonly paid_total: string;
  readonly paid_left: string;
  readonly unleased: string;
  readonly elsewhere: string;
  readonly debt: string;
}

function toLease(row: FactsRow, slices: readonly LeasedSlice[]): Lease {
  return {
    createdAt: row.created_at,
    paidTotal: BigInt(row.paid_total),
    paidLeft: BigInt(row.paid_left),
    unleased: BigInt(row.unleased),
    elsewhere: BigInt(row.elsewhere),
    debt: BigInt(row.debt),
    slices,
  };
}
