import type { Run } from "../cores/run.ts";
import type { World } from "../world.ts";

/** So long after it was asked a run's charge is surely on leases that its core never lost: others take those after 30 s. */
const quickMs = 5000;

interface Cost {
  readonly cost: number;
  readonly shortfall: number;
}

/**
 * Nobody spends what is not there: what a run was admitted for is paid, and keys' budgets are not passed. A database that went
 * back has lost what was lent, so this is of worlds whose database loses nothing.
 */
export class SpendingJudge {
  readonly #world: World;
  readonly #storedAt = new Map<string, number>();
  /** The last receipt that was seen. */
  #row = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Sees which receipts have come since the last look: a charge may wait in its core for long once it is acknowledged. */
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

  /** Receipts' costs by run. */
  #readCosts(): ReadonlyMap<string, Cost> {
    const sql = "select run_id as run, cost, shortfall from usage";
    return new Map(this.#world.server.tables.all<{ run: string } & Cost>(sql).map((row) => [row.run, row]));
  }

  /** A run whose money its core had all the time: nothing came between its hold and its charge, which was stored at once. */
  #isPlain({ process, state, lies, mayBeLost, askedAt, hold }: Run): boolean {
    const storedAt = this.#storedAt.get(hold?.runId ?? "") ?? Number.POSITIVE_INFINITY;
    const lived = process.diedAt === undefined || process.diedAt > storedAt;
    const quick = storedAt - askedAt < quickMs;
    return state === "acknowledged" && lived && quick && !lies && !mayBeLost && !process.wasSuspended;
  }
}

/** Budgets without windows: what one has spent at most, it has spent in all. */
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
