import type { World } from "../world.ts";

/** Judges that a receipt is of the day in whose budget it counts, whenever it was settled and by whatever clock. */
export function judgeBudgetWindows({ server, history }: World): void {
  const strange = server.tables.all<{ request: string; counts: string; day: number }>(
    `select request_id as request, window_name as counts, cast(settled_at / 86400000 as integer) as day
     from usage join budget_slice on budget_slice.id = budget_slice_id
     where window_name like 'day %' and window_name <> 'day ' || cast(settled_at / 86400000 as integer)`,
  );
  for (const { request, counts, day } of strange) {
    history.violation("budgets", `${request} counts in the budget of ${counts}, and its receipt is of day ${day}`);
  }
}
