import type { Run } from "../cores/run.ts";
import type { World } from "../world.ts";

/**
 * Milliseconds after a run's start within which its charge is certainly on leases that its core never lost: others
 * reclaim leases after 30 s.
 */
const quickMs = 5000;

interface Cost {
  readonly cost: number;
  readonly shortfall: number;
}

/**
 * Judges that nobody spends missing money: an admitted run is paid for, and budgets are not exceeded. A database that
 * went back has lost its leases, so this is only for worlds whose database loses nothing.
 */
export class SpendingJudge {
  readonly #world: World;
  readonly #storedAt = new Map<string, number>();
  /** The last receipt that was seen. */
  #row = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Notes which receipts are new since the last look: an acknowledged charge may wait in its core for long. */
  look(): void {
    const { server, timeline, wentBack } = this.#world;
    if (wentBack) {
      return;
    }
    const rows = server.tables.all<{ row: number; run: string }>(
      "select rowid as row, run_id as run from usage where rowid > ? order by rowid",
      this.#row,
    );
    for (const { row, run } of rows) {
      this.#row = row;
      this.#storedAt.set(run, timeline.now);
    }
  }

  judge(): void {
    const { traffic, history, wentBack } = this.#world;
    if (wentBack) {
      return;
    }
    const costs = this.#readCosts();
    const spent = new Map<string, number>();
    for (const run of traffic.runs.filter((one) => this.#isPlain(one))) {
      const { cost, shortfall } = costs.get(run.hold?.runId ?? "") ?? { cost: 0, shortfall: 0 };
      if (shortfall > 0) {
        history.violation(
          "spending",
          `${run.requestId} on ${run.machine} was let in and ${shortfall} of ${cost} was not there`,
        );
      }
      const budget = run.budgetId ?? "";
      spent.set(budget, (spent.get(budget) ?? 0) + cost);
    }
    judgeBudgets(this.#world, spent);
  }

  /** The receipts' costs by run. */
  #readCosts(): ReadonlyMap<string, Cost> {
    const sql = "select run_id as run, cost, shortfall from usage";
    return new Map(this.#world.server.tables.all<{ run: string } & Cost>(sql).map((row) => [row.run, row]));
  }

  /**
   * Whether the core had the run's money all the time: the charge followed its hold undisturbed and was stored at once.
   */
  #isPlain({ process, state, lies, mayBeLost, askedAt, hold }: Run): boolean {
    const storedAt = this.#storedAt.get(hold?.runId ?? "") ?? Number.POSITIVE_INFINITY;
    const lived = process.diedAt === undefined || process.diedAt > storedAt;
    const quick = storedAt - askedAt < quickMs;
    return state === "acknowledged" && lived && quick && !lies && !mayBeLost;
  }
}

/** Judges budgets without windows: the total spending is at most the highest limit. */
function judgeBudgets({ customers, history }: World, spent: ReadonlyMap<string, number>): void {
  for (const { callers, budgetLimits } of customers) {
    const totals = callers.flatMap(({ budget }) => (budget?.period === "total" ? [budget.id] : []));
    for (const id of totals) {
      const [all, limit] = [spent.get(id) ?? 0, budgetLimits.get(id) ?? 0];
      if (all > limit) {
        history.violation("budgets", `the budget ${id} of ${limit} was passed: ${all}`);
      }
    }
  }
}
