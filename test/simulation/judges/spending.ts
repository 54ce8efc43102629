import type { Run } from "../cores/run.ts";
import type { World } from "../world.ts";

/**
 * Milliseconds after a run was let in within which its charge is certainly on leases that its core never lost: a core lets
 * nothing in five seconds before others reclaim them.
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
      const window = windowOf(this.#world, run);
      spent.set(window, (spent.get(window) ?? 0) + cost);
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
  #isPlain({ process, state, lies, mayBeLost, answeredAt = 0, hold }: Run): boolean {
    const storedAt = this.#storedAt.get(hold?.runId ?? "") ?? Number.POSITIVE_INFINITY;
    const lived = process.diedAt === undefined || process.diedAt > storedAt;
    const quick = storedAt - answeredAt < quickMs;
    return state === "acknowledged" && lived && quick && !lies && !mayBeLost;
  }
}

/** A midnight is near for so long: which day a request is of is then the core's to say. */
const nearMs = 5000;

/** The first moment of the day or month that a moment is in. */
function beginningOf(period: "day" | "month", ms: number): number {
  const at = new Date(ms);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), period === "day" ? at.getUTCDate() : 1);
}

/** The budget that a run is spent from, and when its day or month began where that matters. Empty: none, or nobody can tell. */
function windowOf({ timeline, clocksMoved }: World, { budget, answeredAt = 0 }: Run): string {
  if (budget === undefined || (clocksMoved && budget.period !== "total")) {
    return "";
  }
  const { period } = budget;
  if (period !== "day" && period !== "month") {
    return budget.id; // no world lives past a Sunday
  }
  const at = timeline.beginning + answeredAt;
  const [before, after] = [beginningOf(period, at - nearMs), beginningOf(period, at + nearMs)];
  return before === after ? `${budget.id} ${before}` : "";
}

/** Judges each window of a budget: the spending in it is at most the highest limit. */
function judgeBudgets({ customers, history }: World, spent: ReadonlyMap<string, number>): void {
  const limits = new Map(customers.flatMap(({ budgetLimits }) => [...budgetLimits]));
  for (const [window, all] of spent) {
    const limit = limits.get(window.split(" ")[0] ?? "") ?? Number.POSITIVE_INFINITY;
    if (all > limit) {
      history.violation("budgets", `the budget ${window} of ${limit} was passed: ${all}`);
    }
  }
}
