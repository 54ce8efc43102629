import type { World } from "../world.ts";

/**
 * Judges that a receipt is of the day in whose budget it counts, whenever it was settled and by whatever clock, and that each
 * run which held of a budget counts in one. What is late by half a year, as at night, counts with its day alone.
 */
export function judgeBudgetWindows({ server, history, traffic, night }: World): void {
  const without = new Set(
    server.tables
      .all<{ run: string }>("select run_id as run from usage where budget_slice_id is null")
      .map(({ run }) => run),
  );
  for (const { requestId, budget, hold } of night === undefined ? traffic.runs : []) {
    if (budget !== undefined && without.has(hold?.runId ?? "")) {
      history.violation("budgets", `${requestId} held of a budget, and its receipt counts in none`);
    }
  }
  const strange = server.tables.all<{ request: string; counts: string; day: number }>(
    `select request_id as request, window_name as counts, cast(settled_at / 86400000 as integer) as day
     from usage join budget_slice on budget_slice.id = budget_slice_id
     where window_name like 'day %' and window_name <> 'day ' || cast(settled_at / 86400000 as integer)`,
  );
  for (const { request, counts, day } of strange) {
    history.violation("budgets", `${request} counts in the budget of ${counts}, and its receipt is of day ${day}`);
  }
}
