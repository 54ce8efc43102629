import type { Random } from "#lib/ids/random.ts";
import type { CoreBeat, CoreEpoch, Entered, EpochClaim, Heartbeat } from "../../model/store/core.ts";
import type { Executor, Query, Statement } from "./executor.ts";
import { lotColumns, type SliceRow, toSlice } from "./wallet/slice-row.ts";

/** The most processes of one core that may begin at the same moment. */
const mostEntries = 10;
const uniqueViolation = "23505";
/** The heartbeat counter of a new epoch's row. */
const firstBeat = 1;

/** $1 an id for a database that has none yet. */
const identifySql: Statement = {
  name: "identify",
  text: `
  with made as (insert into setting (name, value) values ('database_id', $1) on conflict (name) do nothing returning value)
  select value from made union all select value from setting where name = 'database_id' limit 1`,
};

/** $1 core. The earlier epochs that the database knows, newest first. */
const epochsSql: Statement = {
  name: "epochs",
  text: `
  select id as "coreId", epoch, beats, instance, dead_beat is not distinct from beats as dead
  from core where id = $1 order by epoch desc limit 1000`,
};

/** $1 core, $2 the lock that this process holds, $3 an epoch that is over. */
const enterSql: Statement = {
  name: "enter",
  text: `
  insert into core (id, epoch, instance, beats, heartbeat_at)
  select $1, greatest(coalesce(max(epoch), 0), $3::int) + 1, $2, ${firstBeat}, now() from core where id = $1 returning epoch`,
};

/**
 * $1 core, $2 its new epoch, $3 the lock that this process holds. Waits for leases that its predecessors still had
 * under way, so that everything they leased is adopted next.
 */
const lockAdopted: Statement = {
  name: "lock adopted",
  text: "select epoch from core where id = $1 and epoch < $2 and instance = $3 order by epoch for update",
};

/**
 * $1 core, $2 its new epoch, $3 the lock that this process holds. Adopts slices of epochs whose processes held the same
 * lock: these are dead. Slices of any other epoch stay with it until its heartbeat counter stands still.
 */
const adoptSql: Statement = {
  name: "adopt",
  text: `
  with mine as (
    select slice.id from slice join core on core.id = slice.core_id and core.epoch = slice.epoch
    where core_id = $1 and open and core.epoch < $2 and core.instance = $3 order by slice.id for update of slice)
  update slice set epoch = $2 from mine, lot where slice.id = mine.id and lot.id = slice.lot_id
  returning slice.id, slice.lot_id, slice.account_id, slice.granted, slice.spent, ${lotColumns}`,
};

/** $1 core, $2 its new epoch, $3 the lock that this process holds. Adopts slices of budgets like those of lots. */
const adoptBudgetsSql: Statement = {
  name: "adopt budgets",
  text: `
  with mine as (
    select budget_slice.id from budget_slice
    join core on core.id = budget_slice.core_id and core.epoch = budget_slice.epoch
    where core_id = $1 and open and core.epoch < $2 and core.instance = $3
    order by budget_slice.id for update of budget_slice)
  update budget_slice set epoch = $2 from mine where budget_slice.id = mine.id
  returning budget_slice.id`,
};

/** $1 core, $2 its epoch, $3 the lock that this process holds. Forgets the epochs that it has taken over. */
const forgetAdopted: Statement = {
  name: "forget adopted",
  text: "delete from core where id = $1 and epoch < $2 and instance = $3",
};

/**
 * Counts the row of a core's epoch, 1 or 0, and keeps the row until the transaction ends: every lease needs that row,
 * because slices without it would belong to nobody, and nobody would take them back.
 */
export const countEpoch = (core: string, epoch: string) =>
  `(select count(*)::int from (select 1 from core where id = ${core} and epoch = ${epoch} for key share) own)`;

/** $1 core, $2 epoch, $3 the lock that this process holds. Replaces a row that a failover into the past has lost. */
const enterAgain: Statement = {
  name: "enter again",
  text: `
  insert into core (id, epoch, instance, beats, heartbeat_at) values ($1, $2, $3, ${firstBeat}, now())
  on conflict (id, epoch) do nothing`,
};

/** Condition for a core that others took for dead and that has sent no heartbeat since. */
export const deadSql = "core.dead_beat is not distinct from core.beats";

/** $1 core, $2 epoch, $3 the last answered heartbeat. No row: the epoch is over. */
const heartbeatSql: Statement = {
  name: "heartbeat",
  text: `
  with mine as (select id, dead_beat from core where id = $1 and epoch = $2 for no key update),
  beat as (
    update core set beats = core.beats + 1, heartbeat_at = now() from mine
    where core.id = mine.id and core.epoch = $2 returning core.beats),
  other as (select id as "coreId", epoch, beats from core
    where (id, epoch) <> ($1, $2) and not (${deadSql}) order by id, epoch limit 10000)
  select beat.beats, coalesce(mine.dead_beat >= $3, false) as was_dead,
    coalesce((select json_agg(other) from other), '[]'::json) as others
  from mine, beat`,
};

/**
 * $1 cores, $2 their epochs, $3 their heartbeat counters. A core that has sent a heartbeat since is not taken for dead.
 */
const burySql: Statement = {
  name: "bury",
  text: `
  with silent as (
    select core.id, core.epoch from core
    join unnest($1::uuid[], $2::int[], $3::int[]) as seen(id, epoch, beats) using (id, epoch, beats)
    order by core.id, core.epoch for no key update of core)
  update core set dead_beat = beats from silent where core.id = silent.id and core.epoch = silent.epoch`,
};

interface HeartbeatRow {
  readonly beats: number;
  readonly was_dead: boolean;
  readonly others: readonly CoreBeat[];
}

/** This core's epochs and heartbeat. */
export class Epochs {
  readonly coreId: string;
  readonly #executor: Executor;
  readonly #random: Random;
  #current = 0;
  #instance: string | null = null;
  /** The counter of the last answered heartbeat. */
  #beats = 0;
  /** True from when the database had lost this epoch's row until the next heartbeat. */
  #wasLost = false;
  #cores = 1;

  constructor(executor: Executor, random: Random, coreId: string) {
    this.coreId = coreId;
    this.#executor = executor;
    this.#random = random;
  }

  /** The epoch that this process has begun. 0: none. */
  get epoch(): number {
    return this.#current;
  }

  /** Cores alive at the last heartbeat, including this one. */
  get cores(): number {
    return this.#cores;
  }

  async identify(): Promise<string> {
    const ask = () => this.#executor.query<{ value: string }>(identifySql, [this.#random.uuid()]);
    // Another core may insert an id in between: the second query returns that id.
    const name = (await ask())[0]?.value ?? (await ask())[0]?.value;
    if (name === undefined) {
      throw new Error("the database has no name");
    }
    return name;
  }

  known(): Promise<CoreEpoch[]> {
    return this.#executor.query<CoreEpoch>(epochsSql, [this.coreId]);
  }

  /** Two processes that begin at the same moment get an epoch each: the second one asks again. */
  async enter({ after, instance }: EpochClaim): Promise<Entered> {
    this.#instance = instance ?? null;
    for (let attempt = 1; ; attempt++) {
      try {
        const begun = await this.#executor.transaction((query) => this.#begin(query, after));
        this.#current = begun.epoch;
        this.#beats = firstBeat;
        return begun;
      } catch (error) {
        if (attempt > mostEntries || (error as { code?: unknown }).code !== uniqueViolation) {
          throw error;
        }
      }
    }
  }

  /**
   * Begins an epoch and adopts slices in one transaction: slices of an epoch that a failover into the past has lost
   * would belong to nobody.
   */
  async #begin(query: Query, after: number): Promise<Entered> {
    const [begun] = await query<{ epoch: number }>(enterSql, [this.coreId, this.#instance, after]);
    if (begun === undefined) {
      throw new Error("the database has begun no epoch");
    }
    const { epoch } = begun;
    const values = [this.coreId, epoch, this.#instance];
    await query(lockAdopted, values);
    const slices = await query<SliceRow>(adoptSql, values);
    const budgets = await query<{ id: string }>(adoptBudgetsSql, values);
    await query(forgetAdopted, values);
    return { epoch, adopted: slices.map(toSlice), adoptedBudgets: budgets.map(({ id }) => id) };
  }

  async heartbeat(): Promise<Heartbeat> {
    const values = [this.coreId, this.#current, this.#beats];
    const [row] = await this.#executor.query<HeartbeatRow>(heartbeatSql, values);
    if (row === undefined) {
      return this.#enterAgain();
    }
    const { beats, was_dead: wasDead, others } = row;
    const hasGoneBack = this.#wasLost || beats <= this.#beats;
    this.#beats = beats;
    this.#wasLost = false;
    this.#cores = others.length + 1;
    return { others, wasDead: wasDead || hasGoneBack };
  }

  /**
   * Inserts the row of this epoch again when a failover into the past has lost it. Call it in the transaction that
   * leases. `own`: the number of such rows.
   */
  async ensure(query: Query, own: number): Promise<void> {
    if (own === 0) {
      this.#wasLost = true;
      await query(enterAgain, [this.coreId, this.#current, this.#instance]);
    }
  }

  /** The database has lost this epoch, perhaps by a failover into the past: everything it had leased is in doubt. */
  async #enterAgain(): Promise<Heartbeat> {
    await this.ensure(this.#executor.query, 0);
    this.#beats = firstBeat;
    this.#wasLost = false;
    return { others: [], wasDead: true };
  }

  /** Takes cores for dead whose heartbeat counters have not changed. */
  async bury(dead: readonly CoreBeat[]): Promise<void> {
    if (dead.length > 0) {
      const column = <Name extends keyof CoreBeat>(name: Name) => dead.map((core) => core[name]);
      await this.#executor.query(burySql, [column("coreId"), column("epoch"), column("beats")]);
    }
  }
}
