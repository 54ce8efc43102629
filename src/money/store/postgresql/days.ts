import type { Pool } from "pg";
import {
  countMade,
  type DayTable,
  dayOfRun,
  daysAheadOf,
  listDays,
  makeDays,
  readDays,
} from "#src/storage/postgresql/days.ts";
import type { Executor } from "./executor.ts";

/** Reads which days have tables. */
export async function findDays(executor: Pick<Executor, "query">): Promise<DayTable[]> {
  return readDays(await executor.query(listDays, []));
}

/** The days that have tables, as far as this core knows: they are made ahead, and by whoever finds one missing. */
export class Days {
  readonly #executor: Executor;
  readonly #pool: Pool;
  readonly #missing: (day: number) => void;
  readonly #made = new Set<number>();
  /** Runs of earlier days have another place. */
  #first = Number.NEGATIVE_INFINITY;

  constructor(executor: Executor, pool: Pool, missing: (day: number) => void) {
    this.#executor = executor;
    this.#pool = pool;
    this.#missing = missing;
  }

  /** Makes the days of runs that have none. */
  async ensure(runIds: readonly string[]): Promise<void> {
    if (this.#findMissing(runIds).size === 0) {
      return;
    }
    this.#note(await findDays(this.#executor));
    for (const day of this.#findMissing(runIds)) {
      this.#missing(day);
      await makeDays(this.#pool, [day]);
      this.#made.add(day);
    }
  }

  /** Makes today and the days to come, if this core does it for all. Returns how many days after today have their tables. */
  async makeAhead(now: number, isMine: () => Promise<boolean>): Promise<number> {
    const days = daysAheadOf(now);
    let known = await findDays(this.#executor);
    if (countMade(known, days) < days.length && (await isMine())) {
      await makeDays(this.#pool, days);
      known = await findDays(this.#executor);
    }
    this.#note(known);
    return countMade(known, days) - 1;
  }

  #findMissing(runIds: readonly string[]): ReadonlySet<number> {
    const missing = new Set<number>();
    for (const runId of runIds) {
      const day = dayOfRun(runId);
      if (day !== undefined && day >= this.#first && !this.#made.has(day)) {
        missing.add(day);
      }
    }
    return missing;
  }

  #note(tables: readonly DayTable[]): void {
    this.#first = Math.min(...tables.map(({ day }) => day));
    for (const { day } of tables) {
      this.#made.add(day);
    }
  }
}
