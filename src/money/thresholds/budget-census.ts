import { type BudgetPeriod, budgetPeriods } from "#lib/limits/budget-period.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { repeat } from "#lib/time/repeat.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { WorkLease } from "#src/storage/work-lease.ts";
import { windowAt } from "../model/budget-window.ts";
import type { PicoUsd } from "../model/interface.ts";
import { noId } from "../model/store/wallet.ts";
import { type AnnouncedPercent, announcedPercents } from "./budget-events.ts";

const countMs = 60_000;
/** Soon after the start, so that the figures are there early. */
const firstCountMs = 1000;
const keysAPage = 500;

/** The budgets of one period: those of live keys, each chain of rotations once. */
export interface BudgetCount {
  /** Budgets by the part that events have announced for their running window: less than 80 %, 80 %, or spent. */
  readonly announced: Record<0 | AnnouncedPercent, number>;
  /** Their limits less the charges in their running windows: the most that their keys may still spend there. */
  left: PicoUsd;
}

export type BudgetCounts = Readonly<Record<BudgetPeriod, BudgetCount>>;

interface Dependencies {
  readonly storage: Storage;
  /** Lets one core count for all. */
  readonly lease: Pick<WorkLease, "hold">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with the counts. Undefined: another core counts. */
  readonly counted: (counts: BudgetCounts | undefined) => void;
}

/**
 * Counts the budgets of all keys once a minute, on one core. A limit that was just set counts its key's spending from
 * then on.
 */
export class BudgetCensus {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Starts counting. Returns the function that ends it. */
  start(): () => void {
    const { clock, logger, counted, lease } = this.#parts;
    const count = async () => counted((await lease.hold()) ? await this.count() : undefined);
    return repeat(clock, countMs, logger, "count budgets", count, firstCountMs);
  }

  /** Reads all budgets in pages, so that no turn of the event loop is long. */
  async count(): Promise<BudgetCounts> {
    const counts = emptyCounts();
    const now = this.#parts.clock.now();
    for (let after: string | undefined = noId; after !== undefined; ) {
      const rows = await this.#readPage(after, now);
      for (const row of rows) {
        addBudget(counts[row.period as BudgetPeriod], row);
      }
      after = rows.length < keysAPage ? undefined : String(rows.at(-1)?.id);
    }
    return counts;
  }

  /** Live keys with a budget, the last of each chain, with the running window of each as far as it was spent in. */
  #readPage(after: string, now: number): Promise<Row[]> {
    const windows = budgetPeriods.map((period) => [period, windowAt(period, now).name]);
    return this.#parts.storage.orm.em.fork().execute<Row[]>(
      `select api_key.id, api_key.budget as "limit", budget_period as period, coalesce(announced_percent, 0) as percent,
         cast(coalesce(budget.spent, 0) + coalesce((
           select sum(slice.spent) from budget_slice slice
           where slice.budget_id = budget.id and slice.window_name = budget.window_name and slice.open), 0) as text) as spent
       from api_key left join budget on budget.id = coalesce(limits_of, api_key.id) and window_name = case budget_period ${windows
         .map(() => "when ? then ?")
         .join(" ")} end
       where api_key.budget is not null and api_key.id > ? and rotated_to is null and revoked_at is null
         and (expires_at is null or expires_at > ?)
       order by api_key.id limit ?`,
      [...windows.flat(), after, new Date(now), keysAPage],
    );
  }
}

function emptyCounts(): BudgetCounts {
  const empty = (): BudgetCount => ({ announced: { 0: 0, 80: 0, 100: 0 }, left: 0 });
  return { total: empty(), day: empty(), week: empty(), month: empty() };
}

function addBudget(count: BudgetCount, { limit, spent, percent }: Row): void {
  const part = announcedPercents.findLast((each) => Number(percent) >= each) ?? 0;
  count.announced[part]++;
  count.left += Math.max(0, Number(limit) - Number(spent));
}
